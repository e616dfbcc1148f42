/**
 * A tenth of a second's grants: timers and a busy event loop are late by milliseconds, and without a burst to catch up a fast lane would stay below
 * its rate. Up to 10 a second the burst is 1, because "one a second" means never two at once.
 */
export function defaultBurst(ratePerSecond: number): number {
  return Math.max(1, Math.ceil(ratePerSecond / 10))
}

/**
 * GCRA, stored as a debt: each grant adds one interval, time reduces it, and the debt may never exceed `burst` intervals.
 * (An absolute "theoretical arrival time" would lose 1 % at 100,000 a second: near 1.7e12 ms a number is 0.0002 ms coarse.)
 *
 * Starts with the whole burst used, because the lane's previous owner may just have granted it. `emptyAtMs` says when that was, if known (for example
 * the lane's last attempt); otherwise the first call counts as that moment.
 */
export class RateLimiter {
  readonly ratePerSecond: number
  readonly burst: number
  readonly #intervalMs: number
  readonly #maxDebtBeforeGrantMs: number
  #debtMs: number
  #lastSeenMs: number | undefined

  constructor(ratePerSecond: number, burst: number = defaultBurst(ratePerSecond), emptyAtMs?: number) {
    if (!(ratePerSecond > 0) || !(burst >= 1)) {
      throw new RangeError(`A rate of ${ratePerSecond}/s with a burst of ${burst} never grants anything`)
    }
    this.ratePerSecond = ratePerSecond
    this.burst = burst
    this.#intervalMs = 1000 / ratePerSecond
    this.#maxDebtBeforeGrantMs = (burst - 1) * this.#intervalMs
    this.#debtMs = burst * this.#intervalMs
    this.#lastSeenMs = emptyAtMs
  }

  tryTake(nowMs: number): boolean {
    this.#payBack(nowMs)
    if (this.#debtMs > this.#maxDebtBeforeGrantMs) return false
    this.#debtMs += this.#intervalMs
    return true
  }

  /** When the next grant is due: now, or a whole millisecond in the future at which `tryTake` succeeds. */
  nextAtMs(nowMs: number): number {
    this.#payBack(nowMs)
    const waitMs = this.#debtMs - this.#maxDebtBeforeGrantMs
    if (waitMs <= 0) return nowMs
    const atMs = Math.ceil(nowMs + waitMs)
    // The sum above may have been rounded down.
    return atMs - nowMs < waitMs ? atMs + 1 : atMs
  }

  /** A clock that steps back changes nothing: the debt continues from the new time. */
  #payBack(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - (this.#lastSeenMs ?? nowMs))
    this.#debtMs = Math.max(0, this.#debtMs - elapsedMs)
    this.#lastSeenMs = nowMs
  }
}
