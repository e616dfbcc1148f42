/**
 * Time for one kind of work in each turn of the event loop. Once it is used, the rest of the work waits for the next turn, so that much work
 * at once takes longer instead of blocking everything else.
 */
export class TurnBudget {
  readonly #maxTurnMs: number
  #startedAtMs: number | null = null
  #waiting: (() => void)[] = []

  constructor(maxTurnMs: number) {
    this.#maxTurnMs = maxTurnMs
  }

  /** Counts from the first call of a turn, whatever used the time since. */
  get isSpent(): boolean {
    if (this.#startedAtMs !== null) return performance.now() - this.#startedAtMs >= this.#maxTurnMs
    this.#startedAtMs = performance.now()
    setImmediate(this.#next)
    return false
  }

  /** To be called when the budget is spent. */
  later(work: () => void): void {
    this.#waiting.push(work)
  }

  readonly #next = (): void => {
    this.#startedAtMs = null
    const waiting = this.#waiting
    this.#waiting = []
    for (const work of waiting) work()
  }
}
