/**
 * A time limit for one kind of work in each turn of the event loop. When it is used up, the remaining work waits for the next turn, so
 * that a lot of work takes longer instead of blocking everything else.
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

  /** Runs the work in a later turn; call it when the budget is spent. */
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
