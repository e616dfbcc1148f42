/** Randomness that a seed decides. Each concern draws from its own stream, so that one more draw here changes nothing there. */
export class SeededRandom {
  readonly #seed: number
  #state: number

  constructor(seed: number) {
    this.#seed = seed
    this.#state = seed >>> 0
  }

  /** A stream of its own for this concern. */
  fork(concern: string): SeededRandom {
    let hash = this.#seed
    for (const character of concern) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x5bd1e995)
    return new SeededRandom((hash ^ (hash >>> 13)) >>> 0)
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  between(from: number, to: number): number {
    return Math.floor(from + this.next() * (to - from))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
}
