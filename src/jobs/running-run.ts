import type { RunSpan } from '../observe/tracing.ts'
import type { ClaimedRun } from '../storage/claim-runs.ts'
import type { KnownJob } from './job-table.ts'
import { RunContext, type RunObserver } from './run-context.ts'
import type { QueuedRun } from './run-line.ts'

/** A run whose handler was started. */
export class RunningRun {
  run: ClaimedRun
  worker: number
  readonly job: KnownJob
  readonly context: RunContext
  readonly startedAtMs: number
  readonly startedMonotonicMs = performance.now()
  deadlineMs: number
  /** On the work board. */
  slot = -1
  /** Another run of its batch has the slot. */
  isSharing = false
  /** Null: nobody listens to spans. */
  span: RunSpan | null = null
  /** Ends a handler that has a thread or process of its own; null: nothing can. */
  kill: (() => void) | null = null
  /** Until its ending is decided; what its handler says after that counts only as the fact of a success. */
  isOpen = true

  constructor({ run, worker }: QueuedRun, job: KnownJob, startedAtMs: number, observer: RunObserver) {
    const { timeoutMs } = job.settings
    this.run = run
    this.worker = worker
    this.job = job
    this.startedAtMs = startedAtMs
    this.deadlineMs = this.startedMonotonicMs + timeoutMs
    this.context = new RunContext(run, job.name, timeoutMs, startedAtMs, observer)
  }

  /** It was taken from us, and we have claimed it again: its handler goes on, and its result is that of the new claim. */
  adopt({ run, worker }: QueuedRun): void {
    this.run = run
    this.worker = worker
  }
}
