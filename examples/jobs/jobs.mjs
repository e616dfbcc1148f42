// The jobs. `holdfast worker --import jobs.mjs` executes whatever this module exports.
import { defineJob, PermanentError } from 'holdfast'
import { z } from 'zod'

export const makeReport = defineJob({
  name: 'make-report',
  input: z.object({ month: z.string(), pages: z.number().int().positive() }),
  run: async ({ month, pages }, { progress, logger, signal }) => {
    for (let page = 1; page <= pages; page += 1) {
      signal.throwIfAborted()
      await renderPage()
      logger.info({ page }, 'rendered')
      progress(page / pages)
    }
    return { file: `${month}.pdf`, pages }
  },
})

export const callBank = defineJob({
  name: 'call-bank',
  input: z.object({ account: z.string() }),
  retry: { strategy: 'fixed', baseDelayMs: 200, jitter: 'none', maxRetries: 3 },
  run: async ({ account }, { attempt }) => {
    // No retry can help: the run becomes a dead letter at once.
    if (account === '') throw new PermanentError('an account without a number')
    if (attempt < 3) throw new Error('the bank is busy')
    return { balance: 42 }
  },
})

export const cleanUp = defineJob({
  name: 'clean-up',
  input: z.object({}),
  run: async (_, { logger }) => logger.info('cleaned up'),
})

/** Stands for work that takes a moment. */
function renderPage() {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
