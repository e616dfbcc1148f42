import type { InFlight } from '../storage/in-flight.ts'
import { Deadlines } from './deadlines.ts'
import { endOfAborted, type HandlerEnd, RunAbortedError } from './handler-ending.ts'
import type { RunningRun } from './running-run.ts'
import type { WorkBoard } from './work-board/work-board.ts'

export interface RunningRunsOptions {
  readonly board: WorkBoard
  /** How long a handler that can be killed may take to stop by itself after its time-out. */
  readonly killGraceMs: number
  /** The number of executing runs has changed. */
  readonly onCount: (count: number) => void
  /** The run's deadline has passed; `end` is its outcome. */
  readonly onOverdue: (running: RunningRun, end: HandlerEnd) => void
}

/** The runs whose handlers are at work: their slots, their entries on the work board, and their deadlines. */
export class RunningRuns {
  readonly #options: RunningRunsOptions
  readonly #byId = new Map<number, RunningRun>()
  readonly #deadlines = new Deadlines(() => this.#endOverdue())
  /** Runs that share the handler, and so the slot, of another run. */
  #sharing = 0

  constructor(options: RunningRunsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#byId.size
  }

  /** Handlers at work; a batch counts as one. */
  get busySlots(): number {
    return this.#byId.size - this.#sharing
  }

  get(runId: number): RunningRun | undefined {
    return this.#byId.get(runId)
  }

  list(): RunningRun[] {
    return [...this.#byId.values()]
  }

  listInFlight(maxEntries: number): InFlight[] {
    const nowMs = performance.now()
    return this.list()
      .slice(0, maxEntries)
      .map(({ run, startedMonotonicMs }) => ({ id: run.id, ageMs: nowMs - startedMonotonicMs }))
  }

  /** Adds the runs of one handler call: the first one holds the slot. */
  add(runs: readonly RunningRun[]): void {
    runs.forEach((running, place) => {
      running.isSharing = place > 0
      if (running.isSharing) this.#sharing += 1
      this.#byId.set(running.run.id, running)
      running.slot = this.#options.board.begun.add(running.run.id)
      this.#deadlines.arm(running.deadlineMs)
    })
    this.#options.onCount(this.#byId.size)
  }

  /** Removes an ended run. A run whose handler returned synchronously was never added. */
  remove(running: RunningRun): void {
    if (this.#byId.get(running.run.id) !== running) return
    this.#byId.delete(running.run.id)
    if (running.isSharing) this.#sharing -= 1
    this.#options.board.begun.take(running.slot)
    this.#options.onCount(this.#byId.size)
  }

  setDeadline(running: RunningRun, deadlineMs: number): void {
    running.deadlineMs = deadlineMs
    this.#deadlines.arm(deadlineMs)
  }

  stop(): void {
    this.#deadlines.stop()
  }

  #endOverdue(): void {
    const nowMs = performance.now()
    for (const running of this.list()) if (running.deadlineMs <= nowMs) this.#end(running, nowMs)
    for (const { deadlineMs } of this.#byId.values()) this.#deadlines.arm(deadlineMs)
  }

  #end(running: RunningRun, nowMs: number): void {
    const { abortReason } = running.context
    if (abortReason instanceof RunAbortedError && abortReason.why !== 'stopping') {
      this.#options.onOverdue(running, endOfAborted(abortReason))
      return
    }
    const error = `The handler took longer than ${running.job.settings.timeoutMs} ms.`
    const reason = new RunAbortedError('timed_out', error)
    running.context.abort(reason)
    if (running.kill === null) this.#options.onOverdue(running, endOfAborted(reason))
    // The handler can be killed: its run isn't started again until then.
    else running.deadlineMs = nowMs + this.#options.killGraceMs
  }
}
