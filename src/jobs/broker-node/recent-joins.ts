/**
 * The most recent answered joins, by id. A join that is redelivered after it was evicted registers a second worker, which never sends a heartbeat and
 * is removed when its lease ends.
 */
export class RecentJoins {
  readonly #maxSize: number
  readonly #incarnations = new Map<string, number>()

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  get size(): number {
    return this.#incarnations.size
  }

  incarnationOf(joinId: string): number | undefined {
    return this.#incarnations.get(joinId)
  }

  remember(joinId: string, incarnation: number): void {
    this.#incarnations.set(joinId, incarnation)
    if (this.#incarnations.size <= this.#maxSize) return
    const [oldest] = this.#incarnations.keys()
    if (oldest !== undefined) this.#incarnations.delete(oldest)
  }
}
