/**
 * The last so many joins that were answered, by their id. One that is delivered again after more than that would register a second worker, which
 * never beats and is forgotten when its lease ends.
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
