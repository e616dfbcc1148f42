import { hostname } from 'node:os'
import { silentLogger } from '../engine/logger.ts'
import { checkWorkerOptions } from './check-worker-options.ts'
import type { Executor } from './executor.ts'
import { createLink } from './link/create-link.ts'
import { addLocalWorker, type KeptSlot } from './local-workers.ts'
import { type OpenedJournal, openJournal } from './open-journal.ts'
import { withDeadline } from './with-deadline.ts'
import { WorkerEvents } from './worker-events.ts'
import { brokerWorkerLimits, defaultWorkerLimits } from './worker-limits.ts'
import type { WorkerOptions } from './worker-options.ts'
import { createWorkerParts, type WorkerParts, type WorkerSetup } from './worker-parts.ts'

const jobRefreshMs = 5000
const leaveDeadlineMs = 5000

/** A process that executes runs. */
export class JobWorker {
  readonly #setup: WorkerSetup
  readonly #events: WorkerEvents
  #parts: WorkerParts | null = null
  #journal: OpenedJournal | null = null
  #unlist: (() => void) | null = null
  #refreshTimer: NodeJS.Timeout | null = null
  #starting: Promise<void> | null = null
  #stopping: Promise<void> | null = null

  constructor(options: WorkerOptions) {
    checkWorkerOptions(options)
    const name = options.name ?? hostname()
    const logger = options.logger ?? silentLogger
    this.#setup = {
      options,
      jobs: new Map(options.jobs.map((job) => [job.name, job])),
      name,
      concurrency: options.concurrency ?? 10,
      limits: {
        ...defaultWorkerLimits,
        ...(options.amqpUrl !== undefined && brokerWorkerLimits),
        ...options.limits,
      },
      logger,
      link: createLink(options, name, logger),
    }
    this.#events = new WorkerEvents({ logger, onRunEnded: options.onRunEnded })
  }

  get incarnation(): number {
    return this.#parts?.presence.incarnation ?? 0
  }

  get running(): number {
    return this.#parts?.executor.runningCount ?? 0
  }

  /** Whether heartbeats have failed for so long that the worker starts nothing until one succeeds. */
  get isFenced(): boolean {
    return this.#parts?.presence.isFenced ?? false
  }

  /** Number of runs that have ended here, with any outcome. */
  get completed(): number {
    return this.#parts?.executor.completed ?? 0
  }

  /** Starts claiming. Safe to call twice. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** Stops claiming, returns waiting runs, lets handlers end, and settles their results. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #start(): Promise<void> {
    const { link, name, limits, logger, options } = this.#setup
    await link.open()
    const { journalFolder, databaseUrl } = options
    this.#journal = journalFolder === null ? null : await openJournal(journalFolder, name, limits, logger)
    const journal = this.#journal?.journal ?? null
    const parts = createWorkerParts(this.#setup, journal, this.#events)
    this.#parts = parts
    this.#events.attach(parts)
    if (this.#journal !== null && journal !== null) {
      parts.settler.replay(this.#journal.left, journal.lastNumber)
      // Settle first, claim later: a run that was executed must not be executed again.
      await parts.settler.drained()
    }
    await parts.presence.join(journal?.formerWorkers ?? new Set())
    parts.feed.start()
    parts.upkeep.start()
    if (link.target === 'database' && databaseUrl !== undefined)
      this.#unlist = addLocalWorker(databaseUrl, { keepSlot: (job) => this.#keepSlot(job) })
    this.#refreshTimer = setInterval(() => void this.#events.refreshJobs(), jobRefreshMs)
    this.#refreshTimer.unref()
    const { queueNames: queues } = parts.presence
    logger.info({ worker: this.incarnation, name, queues }, 'The worker takes runs')
  }

  /** For a run that this process enqueues; see RunFeed.keepSlot. */
  #keepSlot(job: string): KeptSlot | null {
    const isHandled = this.#setup.jobs.get(job)?.hasHandler ?? false
    return isHandled ? (this.#parts?.feed.keepSlot() ?? null) : null
  }

  async #stop(): Promise<void> {
    await this.#starting?.catch(() => {})
    this.#unlist?.()
    if (this.#refreshTimer !== null) clearInterval(this.#refreshTimer)
    await this.#events.stop()
    if (this.#parts !== null) await this.#stopParts(this.#parts)
    // Heartbeats continue until everything is settled.
    await this.#parts?.presence.leave()
    await this.#setup.link.close()
    await this.#journal?.release()
  }

  async #stopParts({
    presence,
    feed,
    upkeep,
    executor,
    pool,
    settler,
    ...parts
  }: WorkerParts): Promise<void> {
    await presence.markStopping()
    await feed.stop()
    await upkeep.stop()
    executor.stop()
    await this.#untilEnded(executor)
    const left = executor.releaseAll()
    pool.stop()
    if (left > 0) this.#setup.logger.warn({ runs: left }, 'These runs outlived the stop; they go back')
    await withDeadline(settler.drained(), leaveDeadlineMs)
    settler.abandon()
    await settler.drained()
    await withDeadline(parts.progress.stop(), leaveDeadlineMs)
    await withDeadline(parts.notes.stop(), leaveDeadlineMs)
    parts.journal?.close()
    parts.endedRuns.stop()
  }

  async #untilEnded(executor: Executor): Promise<void> {
    const deadlineMs = performance.now() + this.#setup.limits.stopTimeoutMs
    while (executor.runningCount > 0 && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}
