import type { InFlight } from '../storage/in-flight.ts'
import { Deadlines } from './deadlines.ts'
import { endOfAborted, type HandlerEnd, RunAbortedError } from './handler-ending.ts'
import type { RunningRun } from './running-run.ts'
import type { WorkBoard } from './work-board/work-board.ts'

export interface RunningRunsOptions {
  readonly board: WorkBoard
  /** How long a handler that can be killed may take to stop by itself after its time is over. */
  readonly killGraceMs: number
  /** So many are at work now. */
  readonly onCount: (count: number) => void
  /** Its time is over, and it ends like this. */
  readonly onOverdue: (running: RunningRun, end: HandlerEnd) => void
}

/** The runs whose handlers are at work: their slots, their entries on the work board, and their deadlines. */
export class RunningRuns {
  readonly #options: RunningRunsOptions
  readonly #byId = new Map<number, RunningRun>()
  readonly #deadlines = new Deadlines(() => this.#endOverdue())
  /** Runs that share the handler, and so the slot, of another one. */
  #sharing = 0

  constructor(options: RunningRunsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#byId.size
  }

  /** Handlers at work: a batch is one. */
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

  /** Runs of one handler: the first has the slot. */
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

  /** It has ended. One whose handler returned at once was never added. */
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
    // It can be killed: until then its run isn't started again beside it.
    else running.deadlineMs = nowMs + this.#options.killGraceMs
  }
}
