import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { defineJob } from '../../jobs/job.ts'
import type { JobWorker } from '../../jobs/worker.ts'
import { createWorker } from '../../sdk/create-worker.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import type { Session } from '../process/session.ts'

/** Its own queue, so that your workers don't take its runs, nor its worker yours. */
const queue = 'demo'
const scheduleName = 'demo-cleanup'
const pages = 5
const pageMs = 300
const triggerEveryMs = 30_000

const cleanup = defineJob({
  name: 'demo-cleanup',
  queue,
  run: (_input, { logger }) => {
    logger.info({ baskets: 3 }, 'Removed baskets that nobody came back for')
    return { removed: 3 }
  },
})

const report = defineJob({
  name: 'demo-report',
  queue,
  input: z.object({ month: z.string(), isBroken: z.boolean() }),
  retry: { maxRetries: 1, baseDelayMs: 1000 },
  // One report in four fails on purpose: the job must not be disabled for that.
  autoDisable: { threshold: null },
  run: async ({ month, isBroken }, context) => {
    for (let page = 1; page <= pages; page += 1) {
      await wait(pageMs, undefined, { signal: context.signal })
      context.logger.info({ page }, 'Wrote a page')
      context.progress(page / pages)
    }
    if (isBroken) throw new Error(`The figures of ${month} don't add up`)
    return { month, pages }
  },
})

/** A job with a cron schedule, a job that is triggered, and a worker in this process that runs both. */
export class DemoJobs {
  readonly #session: Session
  readonly #holdfast: Holdfast
  #starting: Promise<void> | null = null
  #isStopping = false
  #worker: JobWorker | null = null
  #timer: NodeJS.Timeout | null = null
  #triggered = 0

  constructor(session: Session, holdfast: Holdfast) {
    this.#session = session
    this.#holdfast = holdfast
  }

  start(databaseUrl: string): Promise<void> {
    this.#starting ??= this.#start(databaseUrl)
    return this.#starting
  }

  /** Also works while it is starting. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#starting?.catch(() => {})
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#worker?.stop()
  }

  async #start(databaseUrl: string): Promise<void> {
    if (this.#isStopping) return
    const { logger } = this.#session
    this.#worker = await createWorker({
      databaseUrl,
      jobs: [cleanup, report],
      name: 'demo',
      concurrency: 2,
      // After a crash the runs are executed again, which is harmless, so no journal is needed.
      journalFolder: null,
      onRunEnded: this.#holdfast.countRun,
      logger,
    })
    await this.#holdfast.schedules.set({ name: scheduleName, job: cleanup.name, cron: '*/10 * * * * *' })
    await this.#holdfast.schedules.resume(scheduleName)
    await this.#trigger()
    this.#timer = setInterval(() => {
      this.#trigger().catch((error: unknown) =>
        logger.warn({ error: String(error) }, "The demo can't trigger its report"),
      )
    }, triggerEveryMs)
  }

  async #trigger(): Promise<void> {
    const isBroken = this.#triggered % 4 === 0
    this.#triggered += 1
    const payload = { month: new Date().toISOString().slice(0, 7), isBroken }
    await this.#holdfast.jobs.trigger(report.name, { payload, reason: 'the demo wants a report' })
  }
}

/** Pauses the schedule: without the demo's worker, its runs would wait. */
export async function pauseDemoJobs(holdfast: Holdfast, reason: string): Promise<void> {
  const schedule = (await holdfast.schedules.list()).find(({ name }) => name === scheduleName)
  if (schedule?.job === cleanup.name && !schedule.isPaused)
    await holdfast.schedules.pause(scheduleName, reason)
}
