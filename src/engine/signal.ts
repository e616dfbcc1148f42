/** An event to wait for: `raise` wakes the current waiter, or else the next one. */
export class Signal {
  #isRaised = false
  #wake: (() => void) | null = null

  raise(): void {
    this.#isRaised = true
    this.#wake?.()
  }

  /** A caller is waiting, and `raise` hasn't been called since. */
  get isAwaited(): boolean {
    return this.#wake !== null && !this.#isRaised
  }

  /** Resolves when raised (also before the call), or after `timeoutMs`. One waiter at a time. */
  async wait(timeoutMs: number): Promise<void> {
    if (!this.#isRaised) {
      await new Promise<void>((resolve) => {
        const timer = timeoutMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, timeoutMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = null
    }
    this.#isRaised = false
  }
}
