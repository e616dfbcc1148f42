/**
 * How many attempts may be in flight at once after a circuit has closed: 1, 2, 4 … up to the lane's concurrency. Each full
 * round (as many successes as the limit) doubles it.
 *
 * A health failure removes one success, and halves the limit if there is none to remove. So a receiver that fails now and
 * then still gets its whole concurrency back, and one that mostly fails stays at 1; falling to 1 at each failure
 * would keep a receiver with one error in ten near 4 for ever. Consecutive failures are handled by the circuit.
 */
export class Ramp {
  readonly concurrency: number
  #limit = 1
  #successes = 0

  constructor(concurrency: number) {
    this.concurrency = concurrency
  }

  get limit(): number {
    return this.#limit
  }

  /** When complete, the limit never falls again: the ramp can be dropped. */
  get isComplete(): boolean {
    return this.#limit >= this.concurrency
  }

  succeeded(): void {
    if (this.isComplete) return
    this.#successes += 1
    if (this.#successes < this.#limit) return
    this.#successes = 0
    this.#limit = Math.min(this.#limit * 2, this.concurrency)
  }

  failed(): void {
    if (this.isComplete) return
    if (this.#successes > 0) {
      this.#successes -= 1
    } else {
      this.#limit = Math.max(1, Math.floor(this.#limit / 2))
    }
  }
}
