export interface LoopWatchLimits {
  /** An event loop that hasn't turned for this long is blocked. */
  readonly blockedMs: number
  /** After this time the process is ended; null: never. */
  readonly endMs: number | null
  /** A longer gap between two checks counts as this much only: the watching thread itself was stopped. */
  readonly maxGapMs: number
}

/** Detects a blocked event loop of the main thread from its turn counter and our own monotonic clock. */
export class LoopWatch {
  readonly #limits: LoopWatchLimits
  #turns = -1
  #stillMs = 0
  #lastLookMs: number | null = null

  constructor(limits: LoopWatchLimits) {
    this.#limits = limits
  }

  /** How long the event loop has not turned, as far as it was watched. */
  get stillMs(): number {
    return this.#stillMs
  }

  observe(turns: number, nowMs: number): 'turning' | 'blocked' | 'lost' {
    const { blockedMs, endMs, maxGapMs } = this.#limits
    const gapMs = this.#lastLookMs === null ? 0 : Math.min(nowMs - this.#lastLookMs, maxGapMs)
    this.#lastLookMs = nowMs
    this.#stillMs = turns === this.#turns ? this.#stillMs + gapMs : 0
    this.#turns = turns
    if (this.#stillMs < blockedMs) return 'turning'
    return endMs !== null && this.#stillMs >= endMs ? 'lost' : 'blocked'
  }
}
