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
  /** The run's slot on the work board. */
  slot = -1
  /** The run shares the slot of another run of its batch. */
  isSharing = false
  /** Null: no tracer is active. */
  span: RunSpan | null = null
  /** Kills the thread or process of an isolated handler; null for other handlers. */
  kill: (() => void) | null = null
  /** True until the outcome is decided. After that only a success still counts, as a fact. */
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

  /** The run was taken from this worker, and claimed by it again: the handler continues, and its result belongs to the new claim. */
  adopt({ run, worker }: QueuedRun): void {
    this.run = run
    this.worker = worker
  }
}
