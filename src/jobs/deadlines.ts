/** One timer for many deadlines, set to the earliest. */
export class Deadlines {
  readonly #onDue: () => void
  #timer: NodeJS.Timeout | null = null
  #nextMs = Number.POSITIVE_INFINITY

  /** @param onDue Ends what is overdue, and arms the timer again for the rest. */
  constructor(onDue: () => void) {
    this.#onDue = onDue
  }

  arm(deadlineMs: number): void {
    if (deadlineMs >= this.#nextMs) return
    this.#nextMs = deadlineMs
    if (this.#timer !== null) clearTimeout(this.#timer)
    const delayMs = Math.min(Math.max(1, deadlineMs - performance.now()), 2 ** 31 - 1)
    this.#timer = setTimeout(() => {
      this.#nextMs = Number.POSITIVE_INFINITY
      this.#timer = null
      this.#onDue()
    }, delayMs)
    this.#timer.unref()
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}
