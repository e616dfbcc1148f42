import type { Page, Request } from 'playwright-core'

/** Longer than the time between an answer and the request that follows from it. */
const restMs = 150
const longestMs = 10_000

/** Goes to a page, and waits until it has asked for everything and shows it. */
export async function openAtRest(page: Page, path: string, heading?: string): Promise<void> {
  const open = new Set<Request>()
  let changedMs = performance.now()
  const onRequest = (request: Request) => {
    // A stream never ends.
    if (request.resourceType() === 'eventsource') return
    open.add(request)
    changedMs = performance.now()
  }
  const onEnd = (request: Request) => {
    if (open.delete(request)) changedMs = performance.now()
  }
  page.on('request', onRequest).on('requestfinished', onEnd).on('requestfailed', onEnd)
  try {
    await page.goto(path)
    await page.getByRole('heading', { level: 1, ...(heading !== undefined && { name: heading }) }).waitFor()
    const deadlineMs = performance.now() + longestMs
    while ((open.size > 0 || performance.now() - changedMs < restMs) && performance.now() < deadlineMs)
      await new Promise((resolve) => setTimeout(resolve, 20))
    await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
  } finally {
    page.off('request', onRequest).off('requestfinished', onEnd).off('requestfailed', onEnd)
  }
}
