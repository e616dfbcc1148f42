export interface RecentAnswersOptions<Answer> {
  readonly sizeOf: (answer: Answer) => number
  readonly nowMs?: () => number
}

interface Kept<Answer> {
  readonly answer: Promise<Answer>
  readonly begunAtMs: number
}

/** A caller that accepts an older answer than this still gets none that is older. */
const maxAgeMs = 5000
const maxAnswers = 200
/** A larger answer is shared with those who ask while it is made, and not kept. */
const maxAnswerBytes = 256 * 1024

/**
 * Answers that several callers may share: open pages of the dashboard ask for the same at the same time, and accept an answer of the last second.
 * The age counts from when the answer was begun, so that it lacks nothing that was committed before.
 */
export class RecentAnswers<Answer> {
  readonly #options: RecentAnswersOptions<Answer>
  readonly #nowMs: () => number
  readonly #kept = new Map<string, Kept<Answer>>()

  constructor(options: RecentAnswersOptions<Answer>) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
  }

  /** An answer begun at most `acceptedAgeMs` ago, or a new one. */
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

  /** Something has changed: what is asked for from now on is read anew. */
  clear(): void {
    this.#kept.clear()
  }

  #keepIf(isFit: boolean, key: string, kept: Kept<Answer>): void {
    if (!isFit && this.#kept.get(key) === kept) this.#kept.delete(key)
  }

  /** They are in the order in which they were begun. */
  #dropOld(nowMs: number): void {
    for (const [key, { begunAtMs }] of this.#kept) {
      if (nowMs - begunAtMs < maxAgeMs && this.#kept.size < maxAnswers) return
      this.#kept.delete(key)
    }
  }
}
