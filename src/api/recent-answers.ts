export interface RecentAnswersOptions<Answer> {
  readonly sizeOf: (answer: Answer) => number
  readonly nowMs?: () => number
}

interface Kept<Answer> {
  readonly answer: Promise<Answer>
  readonly begunAtMs: number
}

/** Upper limit of the age that a caller may accept. */
const maxAgeMs = 5000
const maxAnswers = 200
/** A larger response is shared with concurrent callers, but not cached. */
const maxAnswerBytes = 256 * 1024

/**
 * Responses that several callers may share: open dashboard pages make the same calls at the same time, and accept a response of the last second. The
 * age counts from the start of the read, so that the response includes everything committed before.
 */
export class RecentAnswers<Answer> {
  readonly #options: RecentAnswersOptions<Answer>
  readonly #nowMs: () => number
  readonly #kept = new Map<string, Kept<Answer>>()

  constructor(options: RecentAnswersOptions<Answer>) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
  }

  /** Returns a response that was started at most `acceptedAgeMs` ago, or a new one. */
  get(key: string, acceptedAgeMs: number, make: () => Promise<Answer>): Promise<Answer> {
    const nowMs = this.#nowMs()
    const known = this.#kept.get(key)
    if (known !== undefined && nowMs - known.begunAtMs < Math.min(acceptedAgeMs, maxAgeMs))
      return known.answer
    const kept = { answer: make(), begunAtMs: nowMs }
    this.#dropOld(nowMs)
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    kept.answer.then(
      (answer) => this.#keepIf(this.#options.sizeOf(answer) <= maxAnswerBytes, key, kept),
      () => this.#keepIf(false, key, kept),
    )
    return kept.answer
  }

  /** Something has changed: later calls read again. */
  clear(): void {
    this.#kept.clear()
  }

  #keepIf(isFit: boolean, key: string, kept: Kept<Answer>): void {
    if (!isFit && this.#kept.get(key) === kept) this.#kept.delete(key)
  }

  /** Entries are in the order of their start. */
  #dropOld(nowMs: number): void {
    for (const [key, { begunAtMs }] of this.#kept) {
      if (nowMs - begunAtMs < maxAgeMs && this.#kept.size < maxAnswers) return
      this.#kept.delete(key)
    }
  }
}
