/** The number of pending deliveries of a lane, counted by its owner: summed at takeover, then arrivals minus endings. */
export class OwedCount {
  #pending = 0
  #ahead = 0

  /** Counted by reads. */
  get pending(): number {
    return this.#pending
  }

  /** Also pending and known, but not passed by the arrivals cursor yet: see OwnMessages. */
  get ahead(): number {
    return this.#ahead
  }

  get total(): number {
    return Math.max(0, this.#pending + this.#ahead)
  }

  arrived(count: number): void {
    this.#pending += count
  }

  /** A delivery that was counted but never read has ended. */
  uncount(): void {
    this.#pending -= 1
  }

  /** A delivery has ended. Deliveries in memory are still pending, however they were counted when they arrived late. */
  ended(isCounted: boolean, stillKnown: number): void {
    this.#pending = Math.max(stillKnown - this.#ahead, isCounted ? this.#pending - 1 : this.#pending)
  }

  /** A delivery used the same-process fast path, before a read has counted it. */
  cameAhead(): void {
    this.#ahead += 1
  }

  /** A read has passed it, or it has ended. */
  leftAhead(): void {
    this.#ahead -= 1
  }

  /** A count that began when `pending` was `before`: changes since then are kept. */
  recount(total: number, before: number): void {
    this.#pending = Math.max(0, total + this.#pending - before)
  }

  reset(total: number): void {
    this.#pending = total
  }
}
