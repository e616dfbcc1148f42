export interface LoopWatchLimits {
  /** A loop that hasn't come round for so long is blocked. */
  readonly blockedMs: number
  /** And after so long it is given up; null: never. */
  readonly endMs: number | null
  /** A longer gap between two looks counts as this much only: the watching thread itself was stopped. */
  readonly maxGapMs: number
}

/** Judges the main thread's event loop by how often it has come round, and our own monotonic clock. */
export class LoopWatch {
  readonly #limits: LoopWatchLimits
  #turns = -1
  #stillMs = 0
  #lastLookMs: number | null = null

  constructor(limits: LoopWatchLimits) {
    this.#limits = limits
  }

  /** For how long it has stood still, as far as it was watched. */
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
