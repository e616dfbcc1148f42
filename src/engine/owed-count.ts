/** The number of a lane's pending deliveries, maintained by its owner: counted at takeover, then arrivals minus endings. */
export class OwedCount {
  #pending = 0
  #ahead = 0

  /** Pending deliveries that reads have counted. */
  get pending(): number {
    return this.#pending
  }

  /** Pending deliveries in memory that the arrivals cursor has not passed yet: see OwnMessages. */
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

  /**
   * A delivery has ended. The count is never lower than the number of deliveries still in memory, because late arrivals may not have been counted.
   */
  ended(isCounted: boolean, stillKnown: number): void {
    this.#pending = Math.max(stillKnown - this.#ahead, isCounted ? this.#pending - 1 : this.#pending)
  }

  /** A delivery used the same-process fast path, before a read has counted it. */
  cameAhead(): void {
    this.#ahead += 1
  }

  /** A read has passed such a delivery, or it has ended. */
  leftAhead(): void {
    this.#ahead -= 1
  }

  /** Applies a count that began when `pending` was `before`, and keeps the changes since then. */
  recount(total: number, before: number): void {
    this.#pending = Math.max(0, total + this.#pending - before)
  }

  reset(total: number): void {
    this.#pending = total
  }
}
