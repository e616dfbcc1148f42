import { formatId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import type { StoredJson } from '../core/stored-json.ts'
import type { Database } from '../storage/database.ts'
import { readRun } from '../storage/runs.ts'
import { translateError } from '../storage/translate-error.ts'

/** A run by its id; `Result` is the type that its job's handler returns. */
export interface RunReference<Result = unknown> {
  /** `run_…` */
  readonly id: string
  /** Only a type: the field doesn't exist at run time. */
  readonly resultType?: Result
}

export interface ResultOptions {
  /** How long to wait for the run's end. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** A run that was stored. */
export interface EnqueuedRun<Result = unknown> extends RunReference<Result> {
  /**
   * Waits until the run has ended and returns the handler's result, as JSON. Rejects with `run_failed` if the run failed, expired or was cancelled,
   * and with `run_not_ended` after `timeoutMs`: the run then continues. A run that was enqueued in a transaction must be committed first.
   *
   * @example
   * const run = await holdfast.enqueue(makeReport, { month: '2030-01' })
   * const report = await run.result({ timeoutMs: 30_000 })
   */
  result(options: ResultOptions): Promise<StoredJson<Result> | null>
}

const firstWaitMs = 20
const longestWaitMs = 1000

export class StoredRun<Result> implements EnqueuedRun<Result> {
  readonly id: string
  readonly #number: number
  readonly #database: Database

  constructor(database: Database, number: number) {
    this.id = formatId('run', number)
    this.#number = number
    this.#database = database
  }

  async result(options: ResultOptions): Promise<StoredJson<Result> | null> {
    const { timeoutMs, signal } = checked(options)
    const deadlineMs = performance.now() + timeoutMs
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.5)) {
      signal?.throwIfAborted()
      const ended = await this.#readEnding()
      if (ended !== null) return ended.result as StoredJson<Result> | null
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0) throw notEnded(this.id, timeoutMs)
      await sleep(Math.min(waitMs, leftMs), signal)
    }
  }

  /** Null if the run has not ended, or isn't committed. */
  async #readEnding(): Promise<{ readonly result: unknown } | null> {
    const row = await readRun(this.#database, this.#number).catch((error: unknown) => {
      throw translateError(error)
    })
    if (row === undefined || ['scheduled', 'waiting', 'running'].includes(row.state)) return null
    if (row.state === 'succeeded') {
      return { result: row.attempts.findLast(({ detail }) => detail !== null)?.detail?.['result'] ?? null }
    }
    const { state, error, error_code: errorCode } = row
    throw new HoldfastError(
      'run_failed',
      `The run ${this.id} ended as ${state}: ${(error ?? 'no reason is recorded').replace(/\.$/, '')}. Look at it with: holdfast runs show ${this.id}`,
      { run: this.id, state, error, errorCode },
    )
  }
}

/** Without a timeout it would query the database for ever, without a pause. */
function checked(options: unknown): ResultOptions {
  const timeoutMs = (options as Partial<ResultOptions> | undefined)?.timeoutMs
  if (typeof timeoutMs === 'number' && timeoutMs >= 0) return options as ResultOptions
  throw new HoldfastError(
    'invalid_options',
    'result() needs timeoutMs, how long to wait for the end of the run: result({ timeoutMs: 30_000 }).',
    { problems: [{ path: 'timeoutMs', message: 'must be a number of milliseconds, 0 or more' }] },
  )
}

function notEnded(run: string, timeoutMs: number): HoldfastError {
  return new HoldfastError(
    'run_not_ended',
    `The run ${run} has not ended within ${timeoutMs} ms. It goes on; ask again later, or look at it with: holdfast runs show ${run}`,
    { run, timeoutMs },
  )
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
