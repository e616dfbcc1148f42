/** The line in front of the slots holds what is finished in this time, at the rate of the last looks. */
const prefetchMs = 200
const minSampleMs = 5
/** While the whole of a look is finished in this time, the next one takes twice as many: from 64 to 2,000 in five looks. */
const maxDoublingMs = 400

/** How many runs to take ahead of free slots: short runs get a line, long ones don't, because what waits in it could run elsewhere. */
export class LineLength {
  readonly #maxRuns: number
  readonly #completed: () => number
  #runs = 0
  #ratePerMs = 0
  #sampledAtMs = performance.now()
  #completedThen = 0
  #takenThen = 0

  /** @param completed How many runs have ended here. */
  constructor(maxRuns: number, completed: () => number) {
    this.#maxRuns = maxRuns
    this.#completed = completed
  }

  get runs(): number {
    return this.#runs
  }

  /** How many end in a millisecond. */
  get ratePerMs(): number {
    return this.#ratePerMs
  }

  /** So many runs were taken in one look. */
  adapt(taken: number): void {
    const nowMs = performance.now()
    const elapsedMs = nowMs - this.#sampledAtMs
    if (elapsedMs < minSampleMs) return
    const completed = this.#completed()
    const finished = completed - this.#completedThen
    this.#ratePerMs = (this.#ratePerMs + finished / elapsedMs) / 2
    this.#sampledAtMs = nowMs
    this.#completedThen = completed
    const doubled = finished >= this.#takenThen && elapsedMs <= maxDoublingMs ? 2 * this.#takenThen : 0
    this.#takenThen = taken
    this.#runs = Math.min(this.#maxRuns, Math.max(doubled, Math.floor(this.#ratePerMs * prefetchMs)))
  }
}
