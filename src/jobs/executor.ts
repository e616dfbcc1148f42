import type { ClaimedRun } from '../storage/claim-runs.ts'
import type { InFlight } from '../storage/in-flight.ts'
import { endingsOfBatch } from './batch-results.ts'
import { type BatchedRun, HandlerCaller, type HandlerCallerOptions } from './handler-caller.ts'
import {
  endOfAborted,
  failureOf,
  type HandlerEnd,
  permanentFailure,
  RunAbortedError,
  released,
} from './handler-ending.ts'
import type { AnyJob, JobBatch } from './job.ts'
import { logEnding } from './log-runs.ts'
import { type ResolveOptions, resolveRun } from './resolve-run.ts'
import type { RunObserver } from './run-context.ts'
import type { QueuedRun } from './run-line.ts'
import { resultOf, untriedResultOf } from './run-results.ts'
import { RunningRun } from './running-run.ts'
import { RunningRuns } from './running-runs.ts'
import { WaitingRuns, type WaitingRunsOptions } from './waiting-runs.ts'

export interface ExecutorOptions
  extends ResolveOptions,
    WaitingRunsOptions,
    Omit<HandlerCallerOptions, 'onDeadline'> {
  readonly concurrency: number
  readonly cancelGraceMs: number
  readonly killGraceMs: number
  readonly observer: RunObserver
  readonly mayStart: () => boolean
  /** The number of handlers at work has changed. */
  readonly onRunning: (count: number) => void
  /**
   * A slot, or room in the local queue, has become free. `isSuspects`: by a run that was executing when a worker crashed; another such run may be
   * claimed now.
   */
  readonly onRoom: (isSuspects: boolean) => void
}

/** A run that can be started, with what its handler needs. */
interface BegunRun {
  readonly job: AnyJob
  readonly running: RunningRun
  readonly body: string
}

/** Runs handlers up to the concurrency limit: resolve, call, decide, pass the result to the settler. */
export class Executor {
  readonly #options: ExecutorOptions
  readonly #caller: HandlerCaller
  /** Runs whose handler has returned a promise. */
  readonly #running: RunningRuns
  readonly #waiting: WaitingRuns
  #isStopping = false
  #isPumping = false
  #isPumpDue = false
  completed = 0

  constructor(options: ExecutorOptions) {
    this.#options = options
    const { board, killGraceMs } = options
    this.#waiting = new WaitingRuns(options)
    this.#running = new RunningRuns({
      board,
      killGraceMs,
      onCount: options.onRunning,
      onOverdue: (running, end) => this.#finish(running, end),
    })
    this.#caller = new HandlerCaller({
      ...options,
      onDeadline: (running, deadlineMs) => this.#running.setDeadline(running, deadlineMs),
    })
  }

  get runningCount(): number {
    return this.#running.count
  }

  /** Handlers at work; a batch counts as one. */
  get busySlots(): number {
    return this.#running.busySlots
  }

  get queuedCount(): number {
    return this.#waiting.count
  }

  /** Approximate size of the bodies in the local queue. */
  get queuedBytes(): number {
    return this.#waiting.bytes
  }

  /** Counts runs, executing or waiting, that were executing when a worker crashed: once or more (`suspects`), twice or more (`deadly`). */
  countSuspects(): { readonly suspects: number; readonly deadly: number } {
    let suspects = 0
    let deadly = 0
    const count = ({ run }: { readonly run: ClaimedRun }) => {
      if (run.crashes > 0) suspects += 1
      if (run.crashes > 1) deadly += 1
    }
    this.#running.list().forEach(count)
    this.#waiting.list().forEach(count)
    return { suspects, deadly }
  }

  /** Runs whose handlers are at work. */
  listInFlight(maxEntries: number): InFlight[] {
    return this.#running.listInFlight(maxEntries)
  }

  /**
   * Adds runs to the local queue. They start in the next turn of the event loop, so that the claimer can send its next claim first. If this worker
   * lost a run whose handler is still at work, and claims it again, the run is not started twice: the result of that handler belongs to the new
   * claim.
   */
  add(runs: readonly QueuedRun[]): void {
    const isAtWork = ({ run }: QueuedRun) => this.#running.get(run.id) !== undefined
    const adopted = this.#running.count === 0 ? [] : runs.filter(isAtWork)
    for (const queued of adopted) this.#adopt(queued)
    this.#waiting.add(adopted.length === 0 ? runs : runs.filter((queued) => !adopted.includes(queued)))
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    setImmediate(() => {
      this.#isPumpDue = false
      this.pump()
    })
  }

  #adopt(queued: QueuedRun): void {
    const running = this.#running.get(queued.run.id)
    if (running === undefined) return
    // The former claim ends without this run.
    const record = untriedResultOf({ ...queued, run: running.run }, released, null)
    this.#options.settle({ worker: running.worker, record })
    running.adopt(queued)
    this.#waiting.hold(queued)
  }

  /** Starts runs while there are free slots. */
  pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    const { concurrency } = this.#options
    while (this.busySlots < concurrency && !this.#isStopping && this.#options.mayStart()) {
      const next = this.#waiting.next()
      if (next === undefined) break
      this.#start(next)
    }
    this.#isPumping = false
  }

  /** Cancels a run: a waiting one is released, a running handler is told to stop. */
  cancel(runId: number, reason: string | null): void {
    this.#abort(runId, new RunAbortedError('cancelled', reason ?? 'The run was cancelled.'))
  }

  /** Another worker has the runs of this claim: waiting ones are released, and the signals of running handlers are aborted. */
  giveUpClaim(claimId: number): void {
    for (const { run } of [...this.#running.list(), ...this.#waiting.list()])
      if (run.claimId === claimId)
        this.#abort(run.id, new RunAbortedError('taken', 'Another worker has this run.'))
  }

  #abort(runId: number, reason: RunAbortedError): void {
    const running = this.#running.get(runId)
    if (running === undefined) {
      this.#waiting.cancel(runId)
      return
    }
    if (running.context.abortReason !== undefined) return
    running.context.abort(reason)
    const deadlineMs = performance.now() + this.#options.cancelGraceMs
    if (deadlineMs < running.deadlineMs) this.#running.setDeadline(running, deadlineMs)
  }

  /** Clears the local queue, whose runs were taken from this worker. Returns them. */
  dropLine(): readonly QueuedRun[] {
    return this.#waiting.drop()
  }

  /** Returns runs that have waited longer than this to their queue: another worker may have a free slot. */
  releaseStale(maxWaitMs: number): void {
    this.#waiting.releaseStale(maxWaitMs)
  }

  /** Returns a run that was never added here to its queue. */
  release(run: ClaimedRun, worker: number): void {
    this.#waiting.releaseUnknown(run, worker)
  }

  /** Starts nothing more, returns waiting runs to their queues, and tells handlers to stop. */
  stop(): void {
    this.#isStopping = true
    this.#waiting.releaseAll()
    for (const { context } of this.#running.list()) {
      context.abort(new RunAbortedError('stopping', 'The worker stops.'))
    }
  }

  /** Returns the runs whose handlers have not ended; the handlers end with the process. */
  releaseAll(): number {
    const left = this.#running.list()
    for (const running of left) this.#finish(running, released)
    this.#running.stop()
    return left.length
  }

  #start(queued: QueuedRun): void {
    const startedAtMs = Date.now()
    const begun = this.#begin(queued, startedAtMs)
    if (begun === null) return
    const { job, running, body } = begun
    if (job.batch !== undefined && job.batch !== null) {
      this.#startBatch(job, job.batch, begun, startedAtMs)
      return
    }
    let ending: Promise<unknown> | null
    let returned: unknown
    try {
      returned = this.#caller.call(job, body, running)
      // Reading `then` of a thenable may throw.
      ending = isThenable(returned) ? Promise.resolve(returned) : null
    } catch (error) {
      this.#fail(running, error)
      return
    }
    if (ending === null) {
      this.#succeed(running, returned)
      return
    }
    this.#running.add([running])
    ending.then(
      (result) => this.#succeed(running, result),
      (error: unknown) => this.#fail(running, error),
    )
  }

  /** Prepares the call of the handler; null if the run can't be started and was released or ended. */
  #begin(queued: QueuedRun, startedAtMs: number): BegunRun | null {
    const resolved = resolveRun(queued.run, startedAtMs, this.#options)
    if ('end' in resolved) {
      this.#waiting.end(queued, resolved.end, resolved.delayMs)
      return null
    }
    const { job, known } = resolved
    const { body } = queued.run
    const running = new RunningRun(queued, known, startedAtMs, this.#options.observer)
    if (body !== null) return { job, running, body }
    this.#finish(running, permanentFailure('body_missing', 'The input of this run is gone.'))
    return null
  }

  /** Calls the handler with this run and waiting runs of the same job. */
  #startBatch(job: AnyJob, batch: JobBatch, first: BegunRun, startedAtMs: number): void {
    const [leader, ...others] = this.#gatherBatch(job, batch, first, startedAtMs)
    if (leader === undefined) return
    const batched = [leader, ...others] as const
    this.#running.add(batched.map(({ running }) => running))
    const end = (endings: readonly HandlerEnd[]) =>
      batched.forEach(({ running }, place) => this.#finishBatched(running, endings[place] as HandlerEnd))
    void this.#caller
      .callBatch(job, batch, batched)
      .then((returned) => endingsOfBatch(job.name, returned, batched.length))
      // Also catches results that throw when they are read.
      .catch((error: unknown) => batched.map(() => failureOf(error)))
      .then(end)
  }

  /** A run whose input is invalid fails, and is left out. A run that was executing when a worker crashed runs alone. */
  #gatherBatch(job: AnyJob, batch: JobBatch, first: BegunRun, startedAtMs: number): BatchedRun[] {
    const { run } = first.running
    const others = run.crashes > 0 ? [] : this.#waiting.takeMore(run.jobId, batch.maxRuns - 1)
    const batched: BatchedRun[] = []
    const add = ({ running, body }: BegunRun) => {
      try {
        batched.push({ running, input: job.parseBySchema?.(JSON.parse(body)) })
      } catch (error) {
        this.#fail(running, error)
      }
    }
    add(first)
    for (const queued of others) {
      const begun = this.#begin(queued, startedAtMs)
      if (begun !== null) add(begun)
    }
    return batched
  }

  #finishBatched(running: RunningRun, end: HandlerEnd): void {
    if (end.ending.kind === 'succeeded' || running.context.abortReason === undefined)
      this.#finish(running, end)
    else this.#fail(running, null)
  }

  #succeed(running: RunningRun, result: unknown): void {
    // Also after the run has timed out: that its work is done is a fact.
    this.#finish(running, { ending: { kind: 'succeeded' }, code: null, error: null, result })
  }

  #fail(running: RunningRun, error: unknown): void {
    if (!running.isOpen) return
    const { abortReason } = running.context
    const isTold = abortReason instanceof RunAbortedError
    this.#finish(running, isTold ? endOfAborted(abortReason) : failureOf(error))
  }

  #finish(running: RunningRun, end: HandlerEnd): void {
    const { run, worker, job, isOpen } = running
    if (!isOpen && end.ending.kind !== 'succeeded') return
    running.isOpen = false
    running.context.close()
    running.kill?.()
    this.#running.remove(running)
    const record = resultOf(running, end, isOpen)
    this.#options.settle({ worker, record, job: job.name })
    if (isOpen) {
      running.span?.end(end.ending.kind, end.code)
      this.#waiting.endLink(run, record.action)
    }
    if (end.code !== null) logEnding(this.#options.logger, run, job.name, record)
    this.completed += 1
    this.pump()
    this.#options.onRoom(run.crashes > 0)
  }
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
