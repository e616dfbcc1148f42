/** The last so many numbers that were added. */
export class RecentSet {
  readonly #maxSize: number
  readonly #numbers = new Set<number>()

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  has(number: number): boolean {
    return this.#numbers.has(number)
  }

  add(number: number): void {
    this.#numbers.add(number)
    if (this.#numbers.size <= this.#maxSize) return
    const [oldest] = this.#numbers
    if (oldest !== undefined) this.#numbers.delete(oldest)
  }
}
