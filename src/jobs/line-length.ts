/** The local queue holds as many runs as end in this time, at the rate of the last claim rounds. */
const prefetchMs = 200
const minSampleMs = 5
/**
 * If all runs of a claim round ended within it, the round consists mostly of the claim, and says little about how fast runs end. The next round takes as many as
 * would end in this time, at most eight times as many: from 64 to 2,000 in two rounds.
 */
const growthMs = 800
const maxGrowth = 8

/** How many runs to claim ahead of free slots. Only short runs are claimed ahead: a waiting long run could run on another worker. */
export class LineLength {
  readonly #maxRuns: number
  readonly #completed: () => number
  #runs = 0
  #ratePerMs = 0
  #sampledAtMs = performance.now()
  #completedThen = 0
  #takenThen = 0

  /** @param completed Returns how many runs have ended here. */
  constructor(maxRuns: number, completed: () => number) {
    this.#maxRuns = maxRuns
    this.#completed = completed
  }

  get runs(): number {
    return this.#runs
  }

  /** Runs that end per millisecond. */
  get ratePerMs(): number {
    return this.#ratePerMs
  }

  /** Adapts the length after a claim round that took this many runs. */
  adapt(taken: number): void {
    const nowMs = performance.now()
    const elapsedMs = nowMs - this.#sampledAtMs
    if (elapsedMs < minSampleMs) return
    const completed = this.#completed()
    const finished = completed - this.#completedThen
    this.#ratePerMs = (this.#ratePerMs + finished / elapsedMs) / 2
    this.#sampledAtMs = nowMs
    this.#completedThen = completed
    const growth = Math.min(maxGrowth, growthMs / elapsedMs)
    const grown = finished >= this.#takenThen && growth >= 2 ? Math.floor(growth * this.#takenThen) : 0
    this.#takenThen = taken
    this.#runs = Math.min(this.#maxRuns, Math.max(grown, Math.floor(this.#ratePerMs * prefetchMs)))
  }
}
