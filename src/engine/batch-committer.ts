import { isTransientError } from '../postgres/connection-error.ts'
import type { Logger } from './logger.ts'

/** How results of one kind are stored. */
export interface ResultStore<Result, Answer> {
  /**
   * Stores all results or none. It is repeated after a lost connection, so storing the same results twice must
   * change nothing. `isLast`: no other part of the batch follows.
   */
  store(results: readonly Result[], isLast: boolean): Promise<Answer>
  /** These results are committed. */
  onStored(results: readonly Result[], answer: Answer): void
  /** The result without texts that the database may refuse; null if it has none. */
  withoutTexts(result: Result): Result | null
  /** Quarantines a result that can't be stored, so that an operator can inspect it. Returns the fields of the log entry. */
  quarantine(result: Result, cause: Error): Promise<Record<string, unknown>>
  onQuarantined(result: Result): void
}

export interface BatchCommitterOptions {
  readonly logger: Logger
  /** Where results are stored, for log lines; default: the database. */
  readonly target?: 'database' | 'broker'
  /** Whether results wait to be committed. */
  hasMore(): boolean
  /** Takes the next batch and commits it, with `commit` or `attempt`. */
  commitNext(): Promise<void>
  /** The database is unavailable or rejects writes; called once until a write succeeds again. */
  onAway?(): void
}

export type Attempt<Answer> =
  | { readonly isDone: true; readonly answer: Answer }
  | { readonly isDone: false; readonly error: Error }

const minBackoffMs = 25
const maxBackoffMs = 1000

/**
 * Commits results in batches. One flush is in progress at a time; the next one contains all results that arrived meanwhile. So the batch size
 * grows with the load, and an idle process commits a single result at once.
 *
 * A batch whose connection was lost is committed again unchanged, until it succeeds. A batch that fails on data is split in halves until the bad
 * result is alone; that result is stored without its texts, or quarantined.
 */
export class BatchCommitter {
  readonly #options: BatchCommitterOptions
  readonly #waiting: (() => void)[] = []
  #isScheduled = false
  #isFlushing = false
  #isAway = false
  /** Reasons logged since the database was last available: after a lost connection, the server may come back as read-only, which is logged too. */
  readonly #namedReasons = new Set<string>()
  #isAbandoned = false

  constructor(options: BatchCommitterOptions) {
    this.#options = options
  }

  /** The database currently rejects results. */
  get isAway(): boolean {
    return this.#isAway
  }

  get isAbandoned(): boolean {
    return this.#isAbandoned
  }

  get isIdle(): boolean {
    return !this.#isFlushing && !this.#options.hasMore()
  }

  /** A caller waits for everything to be committed. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0
  }

  /** Flushes after this turn of the event loop: results that arrive during it are committed together. */
  flushSoon(): void {
    if (this.#isFlushing || this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.flush()
    })
  }

  flush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    void this.#flushAll()
  }

  /** Resolves when no results are waiting, or the committer was abandoned. */
  async drained(): Promise<void> {
    if (this.isIdle || (this.#isAbandoned && !this.#isFlushing)) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Abandons results that can't be committed, because the process ends while the database is unavailable. */
  abandon(): void {
    this.#isAbandoned = true
    if (!this.#isFlushing) this.#wakeWaiting()
  }

  /** Commits these results, in parts if needed. Returns false if it was abandoned before all of them were stored. */
  async commit<Result, Answer>(
    kind: ResultStore<Result, Answer>,
    results: readonly Result[],
    isLast = true,
  ): Promise<boolean> {
    const [first] = results
    if (first === undefined) return true
    const attempt = await this.attempt(() => kind.store(results, isLast))
    if (attempt.isDone) {
      kind.onStored(results, attempt.answer)
      return true
    }
    if (this.#isAbandoned) return false
    if (results.length === 1) return this.#commitAlone(kind, first, attempt.error, isLast)
    const middle = results.length >> 1
    const isHalfStored = await this.commit(kind, results.slice(0, middle), false)
    return isHalfStored && this.commit(kind, results.slice(middle), isLast)
  }

  /** Waits for the database without a limit. Returns an error only if a retry can't help, or it was abandoned. */
  async attempt<Answer>(work: () => Promise<Answer>): Promise<Attempt<Answer>> {
    for (let backoffMs = minBackoffMs; ; backoffMs = Math.min(backoffMs * 2, maxBackoffMs)) {
      try {
        const answer = await work()
        this.#isAway = false
        this.#namedReasons.clear()
        return { isDone: true, answer }
      } catch (thrown) {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown))
        if (!isTransientError(error)) return { isDone: false, error }
        this.#noteAway(error)
        if (this.#isAbandoned) return { isDone: false, error }
      }
      await pause(backoffMs)
    }
  }

  async #flushAll(): Promise<void> {
    while (!this.#isAbandoned && this.#options.hasMore()) await this.#options.commitNext()
    this.#isFlushing = false
    this.#wakeWaiting()
  }

  #wakeWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #noteAway(error: Error): void {
    const reason = 'code' in error ? String(error.code) : error.name
    if (!this.#namedReasons.has(reason)) {
      this.#namedReasons.add(reason)
      this.#options.logger.warn(
        { error: String(error) },
        `The ${this.#options.target ?? 'database'} is unavailable or overloaded; results wait until it accepts them`,
      )
    }
    if (this.#isAway) return
    this.#isAway = true
    this.#options.onAway?.()
  }

  /** A receiver's text may contain what PostgreSQL rejects (a NUL, for example). The decision matters more than the text. */
  async #commitAlone<Result, Answer>(
    kind: ResultStore<Result, Answer>,
    result: Result,
    cause: Error,
    isLast: boolean,
  ): Promise<boolean> {
    const { logger } = this.#options
    const bare = kind.withoutTexts(result)
    if (bare !== null) {
      logger.warn({ error: String(cause) }, 'The database rejected a result; storing it without its texts')
      return this.commit(kind, [bare], isLast)
    }
    const attempt = await this.attempt(() => kind.quarantine(result, cause))
    if (attempt.isDone) {
      logger.error(
        { ...attempt.answer, error: String(cause) },
        'The database rejected a result; it is in quarantine and is tried again. See: holdfast quarantine list',
      )
      kind.onQuarantined(result)
      return true
    }
    // A database that rejects even the quarantine row rejects everything: this result is not the cause.
    this.#isAway = true
    if (this.#isAbandoned) return false
    logger.error(
      { cause: String(cause), error: String(attempt.error) },
      'The database rejects results and quarantine rows; retrying',
    )
    await pause(maxBackoffMs)
    return this.commit(kind, [result], isLast)
  }
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
