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

/** The runs that were claimed and have not begun: each starts, goes back, or ends without an attempt. */
export class WaitingRuns {
  readonly #options: WaitingRunsOptions
  readonly #line = new RunLine()

  constructor(options: WaitingRunsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#line.length
  }

  /** What the bodies take, about. */
  get bytes(): number {
    return this.#line.bytes
  }

  list(): readonly QueuedRun[] {
    return this.#line.waiting
  }

  add(runs: readonly QueuedRun[]): void {
    this.#line.add(runs)
  }

  /** A run at work was claimed again: this claim has nothing to start, and those of its ordering key wait. */
  hold(queued: QueuedRun): void {
    // Given back by the heartbeat's thread meanwhile: somebody else has it, and a decision of ours is refused.
    this.#options.board.queued.take(queued.slot)
    this.#line.hold(queued.run)
  }

  /** Takes out the one whose turn it is. */
  next(): QueuedRun | undefined {
    let next = this.#line.next()
    while (next !== undefined && !this.#isOurs(next)) next = this.#line.next()
    return next
  }

  /** Takes out others of this job. */
  takeMore(jobId: number, maxRuns: number): QueuedRun[] {
    return this.#line.takeMore(jobId, maxRuns).filter((queued) => this.#isOurs(queued))
  }

  /** The heartbeat's thread may have given it back meanwhile; then it ends here without a result. */
  #isOurs(queued: QueuedRun): boolean {
    if (this.#options.board.queued.take(queued.slot)) return true
    this.end(queued, released)
    return false
  }

  /** It goes back, and ends there. */
  cancel(runId: number): void {
    const removed = this.#line.remove(runId)
    if (removed === null) return
    this.#options.board.queued.take(removed.queued.slot)
    if (removed.isFirst) this.end(removed.queued, released)
    else this.#settle(removed.queued, released)
  }

  /** Forgets all of them: they have been taken from us. Returns what was there. */
  drop(): readonly QueuedRun[] {
    const dropped = this.#line.takeAll()
    for (const { slot } of dropped) this.#options.board.queued.take(slot)
    return dropped
  }

  /** Hands back what has waited for so long: somebody else may have a free slot for it. */
  releaseStale(maxWaitMs: number): void {
    this.#release(this.#line.takeStale(maxWaitMs))
  }

  releaseAll(): void {
    this.#release(this.#line.takeAll())
  }

  /** Hands back a run that was never added. */
  releaseUnknown(run: ClaimedRun, worker: number): void {
    this.#settle({ run, worker, claimedAtMs: performance.now(), slot: -1 }, released)
  }

  /** Ends one that was taken out, without an attempt. */
  end(queued: QueuedRun, end: HandlerEnd, delayMs: number | null = null): void {
    this.endLink(queued.run, this.#settle(queued, end, delayMs))
  }

  /** A run has ended: the next of its ordering key may start, or all of them go back behind it. */
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
