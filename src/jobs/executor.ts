import { decideRun, type RunEnding } from '../core/jobs/run-decision.ts'
import type { Logger } from '../engine/logger.ts'
import type { ClaimedRun } from '../storage/claim-runs.ts'
import type { InFlight } from '../storage/in-flight.ts'
import { outcomeCodes } from '../storage/settle.ts'
import type { RunRecord } from '../storage/settle-runs.ts'
import { endingOf, errorCode, errorText, RunAbortedError } from './handler-ending.ts'
import type { AnyJob } from './job.ts'
import type { JobTable, KnownJob } from './job-table.ts'
import type { JournalEntry } from './journal.ts'
import { idsOfRun, logEnding } from './log-runs.ts'
import { jsonOf, RunContext, type RunObserver } from './run-context.ts'

export interface QueuedRun {
  readonly run: ClaimedRun
  /** The incarnation that claimed it. */
  readonly worker: number
  readonly claimedAtMs: number
}

class RunningRun {
  readonly run: ClaimedRun
  readonly worker: number
  readonly job: KnownJob
  readonly context: RunContext
  readonly startedAtMs: number
  readonly startedMonotonicMs = performance.now()
  deadlineMs: number
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
}

export interface ExecutorOptions {
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly table: JobTable
  readonly concurrency: number
  readonly cancelGraceMs: number
  readonly logger: Logger
  readonly observer: RunObserver
  readonly mayStart: () => boolean
  /** This run's success waits in the journal. */
  readonly hasSucceeded: (runId: number) => boolean
  readonly settle: (entry: JournalEntry) => void
  /** So many handlers are at work now. */
  readonly onRunning: (count: number) => void
  /** A slot or room in the line has become free; with the end of a suspect, also for another one. */
  readonly onRoom: (isSuspects: boolean) => void
}

const maxResultBytes = 64 * 1024
/** A run whose job nobody here can handle goes back and waits for a worker that can. */
const noHandlerDelayMs = 5000

/** Runs handlers, so many at a time: resolve, run, decide, hand over to be settled. */
export class Executor {
  readonly #options: ExecutorOptions
  /** Those whose handler has returned a promise. */
  readonly #running = new Map<number, RunningRun>()
  #line: QueuedRun[] = []
  #lineStart = 0
  #deadlineTimer: NodeJS.Timeout | null = null
  #nextDeadlineMs = Number.POSITIVE_INFINITY
  #isStopping = false
  #isPumping = false
  #isPumpDue = false
  completed = 0

  constructor(options: ExecutorOptions) {
    this.#options = options
  }

  get runningCount(): number {
    return this.#running.size
  }

  get queuedCount(): number {
    return this.#line.length - this.#lineStart
  }

  /** How many that were there at a crash run or wait here, and how many of them were there twice. */
  countSuspects(): { readonly suspects: number; readonly deadly: number } {
    let suspects = 0
    let deadly = 0
    const count = ({ run }: { readonly run: ClaimedRun }) => {
      if (run.crashes > 0) suspects += 1
      if (run.crashes > 1) deadly += 1
    }
    for (const running of this.#running.values()) count(running)
    this.#line.slice(this.#lineStart).forEach(count)
    return { suspects, deadly }
  }

  /** Runs whose handlers are at work. */
  listInFlight(maxEntries: number): InFlight[] {
    const nowMs = performance.now()
    return Array.from(this.#running.values())
      .slice(0, maxEntries)
      .map(({ run, startedMonotonicMs }) => ({ id: run.id, ageMs: nowMs - startedMonotonicMs }))
  }

  get contexts(): Iterable<RunContext> {
    return [...this.#running.values()].map(({ context }) => context)
  }

  /**
   * They start in the next turn of the loop: whoever claimed them can ask for more first, which the database then looks up meanwhile. Those that
   * were there at a crash go to the front: the less time they spend here, the fewer crashes of others they are there at.
   */
  add(runs: readonly QueuedRun[]): void {
    for (const queued of runs) if (queued.run.crashes === 0) this.#line.push(queued)
    const suspects = runs.filter(({ run }) => run.crashes > 0)
    if (suspects.length > 0) this.#line.splice(this.#lineStart, 0, ...suspects)
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    setImmediate(() => {
      this.#isPumpDue = false
      this.pump()
    })
  }

  /** Starts what may start. */
  pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    const { concurrency } = this.#options
    while (
      this.#running.size < concurrency &&
      this.queuedCount > 0 &&
      !this.#isStopping &&
      this.#options.mayStart()
    ) {
      const next = this.#line[this.#lineStart]
      this.#lineStart += 1
      if (next !== undefined) this.#start(next)
    }
    if (this.#lineStart > 1000 || this.#lineStart === this.#line.length) {
      this.#line = this.#line.slice(this.#lineStart)
      this.#lineStart = 0
    }
    this.#isPumping = false
  }

  /** Tells a running handler to stop, for good. */
  cancel(runId: number, reason: string | null): void {
    const running = this.#running.get(runId)
    if (running === undefined) {
      // Not begun: it goes back, and ends there.
      const at = this.#line.findIndex(({ run }, place) => place >= this.#lineStart && run.id === runId)
      for (const queued of at < 0 ? [] : this.#line.splice(at, 1)) {
        this.#settleUntried(queued, { kind: 'released' }, null, null)
      }
      return
    }
    if (running.context.abortReason !== undefined) return
    running.context.abort(new RunAbortedError('cancelled', reason ?? 'The run was cancelled.'))
    this.#setDeadline(running, performance.now() + this.#options.cancelGraceMs)
  }

  /** Drops the line: these runs have been taken from us. Returns what was in it. */
  dropLine(): QueuedRun[] {
    const dropped = this.#line.slice(this.#lineStart)
    this.#line = []
    this.#lineStart = 0
    return dropped
  }

  /** Hands back what has waited here for so long: somebody else may have a free slot for it. */
  releaseStale(maxWaitMs: number): void {
    const oldest = this.#line[this.#lineStart]
    if (oldest === undefined || performance.now() - oldest.claimedAtMs < maxWaitMs) return
    for (const queued of this.dropLine()) this.#settleUntried(queued, { kind: 'released' }, null, null)
  }

  /** Starts nothing more, hands back what hasn't begun, and tells the handlers to stop. */
  stop(): void {
    this.#isStopping = true
    for (const queued of this.dropLine()) this.#settleUntried(queued, { kind: 'released' }, null, null)
    for (const { context } of this.#running.values()) {
      context.abort(new RunAbortedError('stopping', 'The worker stops.'))
    }
  }

  /** Hands back what hasn't ended by itself; its handlers are left to the end of the process. */
  releaseAll(): number {
    const left = [...this.#running.values()]
    for (const running of left) this.#finish(running, { kind: 'released' }, null, null)
    if (this.#deadlineTimer !== null) clearTimeout(this.#deadlineTimer)
    return left.length
  }

  #start(queued: QueuedRun): void {
    const { run } = queued
    const { table, jobs, hasSucceeded, observer } = this.#options
    // Executed before, by us: its success is on its way, and comes in before this.
    if (hasSucceeded(run.id)) {
      this.#settleUntried(queued, { kind: 'released' }, null, null)
      return
    }
    const startedAtMs = Date.now()
    const known = table.get(run.jobId)
    const job = known === undefined ? undefined : jobs.get(known.name)
    if (run.expiresAtMs !== null && run.expiresAtMs <= startedAtMs) {
      this.#settleUntried(queued, { kind: 'expired' }, 'expired', 'Nobody ran it in time.')
      return
    }
    if (known === undefined) {
      this.#settleUntried(
        queued,
        { kind: 'failed', isPermanent: true, retryAfterMs: null },
        'job_deleted',
        'Its job was deleted.',
      )
      return
    }
    if (job === undefined || !job.hasHandler) {
      this.#options.logger.warn(
        { ...idsOfRun(run), job: known.name },
        'No handler for this job here; the run goes back',
      )
      this.#settleUntried(queued, { kind: 'released' }, null, null, noHandlerDelayMs)
      return
    }
    const running = new RunningRun(queued, known, startedAtMs, observer)
    if (run.body === null) {
      this.#finish(
        running,
        { kind: 'failed', isPermanent: true, retryAfterMs: null },
        'body_missing',
        'The input of this run is gone.',
      )
      return
    }
    let returned: unknown
    try {
      returned = job.run(JSON.parse(run.body), running.context)
    } catch (error) {
      this.#fail(running, error)
      return
    }
    if (isThenable(returned)) {
      this.#register(running)
      returned.then(
        (result) => this.#succeed(running, result),
        (error: unknown) => this.#fail(running, error),
      )
    } else {
      this.#succeed(running, returned)
    }
  }

  #register(running: RunningRun): void {
    const { id } = running.run
    const former = this.#running.get(id)
    // Taken from us and claimed again, while its first handler is still at it: with that claim it is over.
    if (former !== undefined) this.#finish(former, { kind: 'released' }, null, null)
    this.#running.set(id, running)
    this.#options.onRunning(this.#running.size)
    this.#armDeadline(running.deadlineMs)
  }

  #succeed(running: RunningRun, result: unknown): void {
    // Also one that came too late for its time-out: that it was done is a fact.
    this.#finish(running, { kind: 'succeeded' }, null, null, result)
  }

  #fail(running: RunningRun, error: unknown): void {
    if (!running.isOpen) return
    const { abortReason } = running.context
    const told = abortReason instanceof RunAbortedError ? abortReason : null
    if (told?.why === 'stopping') this.#finish(running, { kind: 'released' }, null, null)
    else if (told?.why === 'cancelled')
      this.#finish(running, { kind: 'cancelled' }, 'cancelled', told.message)
    else this.#finish(running, endingOf(error), errorCode(error), errorText(error))
  }

  #finish(
    running: RunningRun,
    ending: RunEnding,
    code: string | null,
    error: string | null,
    result?: unknown,
  ): void {
    const { run, worker, context, job } = running
    const { isOpen } = running
    if (!isOpen && ending.kind !== 'succeeded') return
    running.isOpen = false
    if (this.#running.get(run.id) === running) {
      this.#running.delete(run.id)
      this.#options.onRunning(this.#running.size)
    }
    const decision = decideRun(ending, context.attempt, job.settings, Math.random)
    const isTried = ending.kind !== 'released'
    const record: RunRecord = {
      id: run.id,
      message: run.messageId,
      // It has ended once already, and its claim has counted it.
      claim: isOpen ? run.claimId : 0,
      lane: run.laneId,
      attempt: context.attempt,
      expected: run.attempt,
      action: decision.action,
      outcome: outcomeOf(ending),
      startedAtMs: running.startedAtMs,
      durationMs: Math.round(performance.now() - running.startedMonotonicMs),
      errorCode: code,
      error,
      detail: detailOf(context, result),
      delayMs: decision.delayMs,
      reason: decision.reason,
      isTried,
    }
    this.#options.settle({ worker, record })
    if (code !== null) logEnding(this.#options.logger, run, job.name, record)
    this.completed += 1
    this.pump()
    this.#options.onRoom(run.crashes > 0)
  }

  #settleUntried(
    { run, worker }: QueuedRun,
    ending: RunEnding,
    code: string | null,
    error: string | null,
    delayMs: number | null = null,
  ): void {
    const record: RunRecord = {
      id: run.id,
      message: run.messageId,
      claim: run.claimId,
      lane: run.laneId,
      attempt: run.attempt,
      expected: run.attempt,
      action: untriedActions[ending.kind] ?? 'release',
      outcome: outcomeOf(ending),
      startedAtMs: Date.now(),
      durationMs: null,
      errorCode: code,
      error,
      detail: null,
      delayMs,
      reason: code,
      isTried: false,
    }
    this.#options.settle({ worker, record })
    if (record.action === 'dead') logEnding(this.#options.logger, run, null, record)
  }

  #setDeadline(running: RunningRun, deadlineMs: number): void {
    if (deadlineMs >= running.deadlineMs) return
    running.deadlineMs = deadlineMs
    this.#armDeadline(deadlineMs)
  }

  /** One timer for all: it stands at the earliest deadline that we know of. */
  #armDeadline(deadlineMs: number): void {
    if (deadlineMs >= this.#nextDeadlineMs) return
    this.#nextDeadlineMs = deadlineMs
    if (this.#deadlineTimer !== null) clearTimeout(this.#deadlineTimer)
    const delayMs = Math.min(Math.max(1, deadlineMs - performance.now()), 2 ** 31 - 1)
    this.#deadlineTimer = setTimeout(() => this.#endOverdue(), delayMs)
    this.#deadlineTimer.unref()
  }

  #endOverdue(): void {
    const nowMs = performance.now()
    this.#nextDeadlineMs = Number.POSITIVE_INFINITY
    this.#deadlineTimer = null
    let nextMs = Number.POSITIVE_INFINITY
    for (const running of Array.from(this.#running.values())) {
      if (running.deadlineMs > nowMs) {
        nextMs = Math.min(nextMs, running.deadlineMs)
        continue
      }
      const { abortReason } = running.context
      if (abortReason instanceof RunAbortedError && abortReason.why === 'cancelled') {
        this.#finish(running, { kind: 'cancelled' }, 'cancelled', abortReason.message)
        continue
      }
      const text = `The handler took longer than ${running.job.settings.timeoutMs} ms.`
      running.context.abort(new RunAbortedError('timed_out', text))
      this.#finish(running, { kind: 'timed_out' }, 'timed_out', text)
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#armDeadline(nextMs)
  }
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** What becomes of a run that was not begun. */
const untriedActions: Readonly<Partial<Record<RunEnding['kind'], RunRecord['action']>>> = {
  expired: 'expire',
  failed: 'dead',
}

const plainOutcomes: Readonly<Record<Exclude<RunEnding['kind'], 'failed'>, number>> = {
  succeeded: outcomeCodes.success,
  cancelled: outcomeCodes.cancelled,
  expired: outcomeCodes.expired,
  timed_out: outcomeCodes.retryable,
  released: outcomeCodes.retryable,
}

function outcomeOf(ending: RunEnding): number {
  if (ending.kind !== 'failed') return plainOutcomes[ending.kind]
  return ending.isPermanent ? outcomeCodes.permanent : outcomeCodes.retryable
}

/** What is kept of an execution beside its outcome; null when there is nothing. */
function detailOf(context: RunContext, result: unknown): object | null {
  if (result === undefined && !context.hasNews) return null
  const json = result === undefined ? null : jsonOf(result)
  const isKept = json !== null && Buffer.byteLength(json) <= maxResultBytes
  const progress = context.progressValue === undefined ? null : jsonOf(context.progressValue)
  return {
    ...(isKept && { result: JSON.parse(json) as unknown }),
    ...(result !== undefined && !isKept && { resultOmitted: json === null ? 'not_storable' : 'too_large' }),
    ...(progress !== null &&
      progress.length <= maxResultBytes && { progress: JSON.parse(progress) as unknown }),
    ...(context.logs.length > 0 && { logs: context.logs }),
  }
}
