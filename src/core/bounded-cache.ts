/**
 * Keeps values up to a total weight, say in characters, and drops the oldest beyond it. The newest stays, whatever its weight. A caller that needs several
 * values at once must not rely on finding all of them.
 */
export class BoundedCache<Value> {
  readonly #maxWeight: number
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>()
  #totalWeight = 0

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  set(key: string, value: Value, weight: number): void {
    this.delete(key)
    this.#entries.set(key, { value, weight })
    this.#totalWeight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#totalWeight <= this.#maxWeight || oldest === key) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#totalWeight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }

  *entries(): Generator<readonly [string, Value]> {
    for (const [key, { value }] of this.#entries) yield [key, value]
  }
}
