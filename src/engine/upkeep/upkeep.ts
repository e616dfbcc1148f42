import { isTransientError } from '../../postgres/connection-error.ts'
import { isNotLeader } from '../../storage/leadership.ts'
import type { Logger } from '../logger.ts'
import type { TaskEnd, Turn, Turns } from './turns.ts'

export interface UpkeepOptions {
  readonly logger: Logger
  /** Interval between checks for due tasks. */
  readonly lookMs: number
  readonly turns: readonly Turns[]
}

const defaultTimeoutMs = 60_000
/** How long a stop waits for tasks to end. */
const stopWaitMs = 2000
const maxErrorCharacters = 2000

/** Runs upkeep tasks when it is this process's turn. Tasks run independently: a task that fails, hangs or takes long delays no other kind. */
export class Upkeep {
  readonly #options: UpkeepOptions
  readonly #running = new Map<Turns, Map<string, Promise<void>>>()
  #timer: NodeJS.Timeout | undefined
  #isStarted = false
  #isStopped = false
  #isLooking = false
  #isLookDue = false

  constructor(options: UpkeepOptions) {
    this.#options = options
    for (const turns of options.turns) this.#running.set(turns, new Map())
  }

  /** Safe to call twice. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    void this.#lookAgainAndAgain()
  }

  /**
   * Starts tasks that are due now. Only one check runs at a time, because two could both begin to lead;
   * requests that arrive meanwhile cause another check after it.
   */
  async look(): Promise<void> {
    this.#isLookDue = true
    if (this.#isLooking) return
    this.#isLooking = true
    while (this.#isLookDue && !this.#isStopped) {
      this.#isLookDue = false
      for (const turns of this.#options.turns) await this.#lookAt(turns)
    }
    this.#isLooking = false
  }

  /** Asks running tasks to end, and waits a short time for them. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    for (const turns of this.#options.turns) turns.end()
    const running = [...this.#running.values()].flatMap((tasks) => [...tasks.values()])
    let timer: NodeJS.Timeout | undefined
    const expired = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, stopWaitMs)
    })
    await Promise.race([Promise.all(running), expired])
    clearTimeout(timer)
  }

  async #lookAgainAndAgain(): Promise<void> {
    await this.look()
    if (this.#isStopped) return
    this.#timer = setTimeout(() => void this.#lookAgainAndAgain(), this.#options.lookMs)
  }

  async #lookAt(turns: Turns): Promise<void> {
    const running = this.#running.get(turns) ?? new Map<string, Promise<void>>()
    try {
      for (const turn of await turns.take(new Set(running.keys()))) {
        if (this.#isStopped) return
        const ended = this.#run(turn).finally(() => {
          running.delete(turn.name)
          if (turns.areOneByOne) void this.look()
        })
        running.set(turn.name, ended)
      }
    } catch (error) {
      // An unavailable database is reported elsewhere.
      const level = isTransientError(error) ? 'debug' : 'error'
      this.#options.logger[level](
        { error: describe(error) },
        'Looking for maintenance tasks failed; trying again',
      )
    }
  }

  /** Never rejects. */
  async #run(turn: Turn): Promise<void> {
    const { logger } = this.#options
    const startedAtMs = performance.now()
    const timeoutMs = turn.timeoutMs ?? defaultTimeoutMs
    const abort = new AbortController()
    const endEarly = () => abort.abort(turn.ended?.reason)
    turn.ended?.addEventListener('abort', endEarly, { once: true })
    const timer = setTimeout(() => abort.abort(new Error(`it took longer than ${timeoutMs} ms`)), timeoutMs)
    // In its own microtask, so that a throw before the task's first await counts as a failure of the task.
    const work = Promise.resolve().then(() => turn.run(abort.signal))
    let summary: TaskEnd['summary'] = null
    let error: string | null = null
    try {
      summary = (await Promise.race([work, rejectedOn(abort.signal)])) ?? null
    } catch (thrown) {
      error = describe(thrown)
      // Otherwise the process that has the turn now runs the task again; changes of this run are rolled back.
      if (turn.ended?.aborted !== true && !isNotLeader(thrown)) {
        const level = isTransientError(thrown) ? 'warn' : 'error'
        logger[level]({ task: turn.name, error }, 'A maintenance task failed')
      }
    }
    clearTimeout(timer)
    turn.ended?.removeEventListener('abort', endEarly)
    if (turn.ended?.aborted !== true) {
      await this.#finish(turn, { durationMs: performance.now() - startedAtMs, summary, error })
    }
    // A task that ignores its signal must not be started again while it still runs.
    await work.catch(() => {})
  }

  async #finish(turn: Turn, end: TaskEnd): Promise<void> {
    try {
      await turn.finish?.(end)
    } catch (error) {
      // The task's row says that it is running, and will be retried in a minute.
      if (isNotLeader(error)) return
      this.#options.logger.warn(
        { task: turn.name, error: describe(error) },
        'The result of a maintenance task was not recorded',
      )
    }
  }
}

function rejectedOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replaceAll('\u0000', '').slice(0, maxErrorCharacters)
}
