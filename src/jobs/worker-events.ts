import type { Logger } from '../engine/logger.ts'
import type { ClaimedRun } from '../storage/claim-runs.ts'
import type { HeardBeat } from './heartbeat-protocol.ts'
import type { JournalEntry } from './journal.ts'
import type { WorkerOptions } from './worker-options.ts'
import type { WorkerParts } from './worker-parts.ts'

export interface WorkerEventsOptions {
  readonly logger: Logger
  readonly onRunEnded: WorkerOptions['onRunEnded']
}

const endings = { succeed: 'succeeded', dead: 'dead', expire: 'expired', cancel: 'cancelled' } as const

/** Runs that wait in the local queue for longer than this are returned. */
const maxLineWaitMs = 5000

/** How a running worker reacts when runs were claimed, results were stored, a heartbeat succeeded, or a job has changed. */
export class WorkerEvents {
  readonly #options: WorkerEventsOptions
  #parts: WorkerParts | null = null
  #isStopping = false
  #isDraining = false
  #isRejoining = false
  /** The server's life, from the last heartbeat; it changes at a restart, a recovery or a failover. */
  #life: string | null = null
  #refreshing: Promise<void> | null = null

  constructor(options: WorkerEventsOptions) {
    this.#options = options
  }

  get mayStart(): boolean {
    return !this.#isStopping
  }

  get mayClaim(): boolean {
    return !this.#isStopping && !this.#isDraining && !this.#isRejoining
  }

  attach(parts: WorkerParts): void {
    this.#parts = parts
  }

  /** Claims and starts nothing more. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#refreshing
  }

  /** Takes runs that this incarnation has claimed. `isOurs` is called once: false if they have been returned meanwhile. */
  async claimed(runs: readonly ClaimedRun[], worker: number, isOurs: () => boolean): Promise<void> {
    const [first] = runs
    const parts = this.#parts
    // The worker was declared dead before the response arrived: these runs have been returned.
    if (first === undefined || parts === null || worker !== parts.presence.incarnation) return
    const { settler, table, board, executor, presence } = parts
    const claimedAtMs = performance.now()
    settler.expect(first.claimId, runs.length)
    try {
      await table.load(runs.map(({ jobId }) => jobId))
    } catch (error) {
      // The runs are returned with their claim; none has started.
      settler.forget(first.claimId)
      throw error
    }
    // They may also have been returned while their jobs were loaded.
    if (!isOurs() || worker !== presence.incarnation) {
      settler.forget(first.claimId)
      return
    }
    executor.add(runs.map((run) => ({ run, worker, claimedAtMs, slot: board.queued.add(run.id) })))
  }

  settled(entries: readonly JournalEntry[], refused: ReadonlySet<number>): void {
    if (refused.size > 0) {
      const details = { runs: refused.size }
      this.#options.logger.warn(details, 'Decisions were refused: somebody else has these runs now')
    }
    for (const entry of entries) {
      const { action, id, durationMs } = entry.record
      if (action === 'retry' || action === 'release' || refused.has(id)) continue
      this.#options.onRunEnded?.(endings[action], durationMs, entry.job ?? '')
      this.#parts?.endedRuns.note(entry, endings[action])
    }
    const parts = this.#parts
    if (parts === null) return
    const { progress, executor, feed } = parts
    progress.ended(entries.map(({ record }) => record.id))
    executor.pump()
    if (feed.noteSettled === undefined) feed.noteRoom()
    else feed.noteSettled()
    const isOwedAgain = entries.some(({ record }) => record.action === 'retry' || record.action === 'release')
    if (isOwedAgain && !this.#isStopping) feed.ring()
  }

  heard({ isKnown, state, cancellations, life }: HeardBeat): void {
    const parts = this.#parts
    if (this.#isStopping || parts === null) return
    if (!isKnown) {
      void this.#rejoin(parts).catch((error: unknown) =>
        this.#options.logger.error({ error: String(error) }, 'The worker could not join again'),
      )
      return
    }
    const wasDraining = this.#isDraining
    this.#isDraining = state === 'draining'
    if (wasDraining && !this.#isDraining) parts.feed.ring()
    if (this.#life !== null && life !== this.#life) this.#startAnew(parts)
    this.#life = life
    for (const { id, reason } of cancellations) parts.executor.cancel(id, reason)
    parts.executor.releaseStale(maxLineWaitMs)
    // The worker may have been fenced until now.
    parts.executor.pump()
    parts.feed.noteRoom()
  }

  async jobsChanged(): Promise<void> {
    await this.refreshJobs()
    this.#parts?.feed.ring()
  }

  /** Reads the jobs again after a change. One read at a time. */
  refreshJobs(): Promise<void> {
    this.#refreshing ??= this.#readJobs()
      .catch((error: unknown) =>
        this.#options.logger.debug({ error: String(error) }, 'The jobs could not be read again'),
      )
      .finally(() => {
        this.#refreshing = null
      })
    return this.#refreshing
  }

  async #readJobs(): Promise<void> {
    const parts = this.#parts
    if (parts === null) return
    const { table, presence, feed } = parts
    await table.refresh()
    if (!(await presence.refreshJobs(() => !this.#isStopping && !this.#isRejoining))) return
    const details = { queues: presence.queueNames }
    this.#options.logger.info(details, 'A job has moved; the worker takes from these queues now')
    feed.ring()
  }

  /**
   * The server has restarted, recovered or failed over, and may have lost this worker's latest claims and its sleep state. Executing runs continue,
   * and their results count where they match the run; waiting runs are returned.
   */
  #startAnew({ presence, executor, feed }: WorkerParts): void {
    const details = { worker: presence.incarnation }
    this.#options.logger.warn(details, 'The database has restarted, recovered or failed over')
    executor.releaseStale(0)
    feed.reset()
    void this.refreshJobs()
  }

  /** Other workers took the runs while this worker was unreachable: drop the waiting ones, and register as a new incarnation. */
  async #rejoin({ presence, executor, settler, feed }: WorkerParts): Promise<void> {
    if (this.#isRejoining) return
    this.#isRejoining = true
    try {
      const dropped = executor.dropLine()
      for (const { run } of dropped) settler.forget(run.claimId)
      const details = { worker: presence.incarnation, dropped: dropped.length }
      this.#options.logger.warn(details, 'Declared dead; joining again')
      await presence.joinAgain(() => this.#isStopping)
    } finally {
      this.#isRejoining = false
    }
    feed.reset()
  }
}
