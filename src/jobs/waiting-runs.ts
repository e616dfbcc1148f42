import type { Logger } from '../engine/logger.ts'
import type { ClaimedRun } from '../storage/claim-runs.ts'
import type { RunRecord } from '../storage/settle-runs.ts'
import { type HandlerEnd, released } from './handler-ending.ts'
import type { JobTable } from './job-table.ts'
import type { JournalEntry } from './journal.ts'
import { logEnding } from './log-runs.ts'
import { type QueuedRun, RunLine } from './run-line.ts'
import { untriedResultOf } from './run-results.ts'
import type { WorkBoard } from './work-board/work-board.ts'

export interface WaitingRunsOptions {
  readonly board: WorkBoard
  readonly table: JobTable
  readonly logger: Logger
  readonly settle: (entry: JournalEntry) => void
}

/** Runs that were claimed and have not started: each of them starts, is released, or ends without an attempt. */
export class WaitingRuns {
  readonly #options: WaitingRunsOptions
  readonly #line = new RunLine()

  constructor(options: WaitingRunsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#line.length
  }

  /** Approximate size of the bodies. */
  get bytes(): number {
    return this.#line.bytes
  }

  list(): readonly QueuedRun[] {
    return this.#line.waiting
  }

  add(runs: readonly QueuedRun[]): void {
    this.#line.add(runs)
  }

  /** An executing run was claimed again: the new claim starts nothing, and later runs of its ordering key wait. */
  hold(queued: QueuedRun): void {
    // The result doesn't matter: if the heartbeat's thread has returned the run, another worker has it, and our decision is refused.
    this.#options.board.queued.take(queued.slot)
    this.#line.hold(queued.run)
  }

  /** Removes and returns the next run. */
  next(): QueuedRun | undefined {
    let next = this.#line.next()
    while (next !== undefined && !this.#isOurs(next)) next = this.#line.next()
    return next
  }

  /** Removes and returns other runs of this job. */
  takeMore(jobId: number, maxRuns: number): QueuedRun[] {
    return this.#line.takeMore(jobId, maxRuns).filter((queued) => this.#isOurs(queued))
  }

  /** False if the heartbeat's thread has returned the run meanwhile; then it is released here without an attempt. */
  #isOurs(queued: QueuedRun): boolean {
    if (this.#options.board.queued.take(queued.slot)) return true
    this.end(queued, released)
    return false
  }

  /** Releases a waiting run; the database then ends it as cancelled. */
  cancel(runId: number): void {
    const removed = this.#line.remove(runId)
    if (removed === null) return
    this.#options.board.queued.take(removed.queued.slot)
    if (removed.isFirst) this.end(removed.queued, released)
    else this.#settle(removed.queued, released)
  }

  /** Removes all runs, which were taken from this worker. Returns them. */
  drop(): readonly QueuedRun[] {
    const dropped = this.#line.takeAll()
    for (const { slot } of dropped) this.#options.board.queued.take(slot)
    return dropped
  }

  /** Returns runs that have waited this long to their queue: another worker may have a free slot. */
  releaseStale(maxWaitMs: number): void {
    this.#release(this.#line.takeStale(maxWaitMs))
  }

  releaseAll(): void {
    this.#release(this.#line.takeAll())
  }

  /** Returns a run to its queue that was never added here. */
  releaseUnknown(run: ClaimedRun, worker: number): void {
    this.#settle({ run, worker, claimedAtMs: performance.now(), slot: -1 }, released)
  }

  /** Settles a removed run, without an attempt. */
  end(queued: QueuedRun, end: HandlerEnd, delayMs: number | null = null): void {
    this.endLink(queued.run, this.#settle(queued, end, delayMs))
  }

  /** A run has ended: the next run of its ordering key may start, or all of them are released. */
  endLink(run: ClaimedRun, action: RunRecord['action']): void {
    this.#release(this.#line.endLink(run, action))
  }

  #release(runs: readonly QueuedRun[]): void {
    for (const queued of runs) {
      this.#options.board.queued.take(queued.slot)
      this.#settle(queued, released)
    }
  }

  #settle(queued: QueuedRun, end: HandlerEnd, delayMs: number | null = null): RunRecord['action'] {
    const record = untriedResultOf(queued, end, delayMs)
    const job = this.#options.table.get(queued.run.jobId)?.name ?? ''
    this.#options.settle({ worker: queued.worker, record, job })
    if (record.action === 'dead') logEnding(this.#options.logger, queued.run, null, record)
    return record.action
  }
}
