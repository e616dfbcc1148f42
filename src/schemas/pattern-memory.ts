/**
 * Limits what caches of several patterns hold together. Beyond the limit all of them are emptied: a cache that is in use soon has
 * again what it needs, and what isn't in use, or belongs to a pattern that no longer exists, is released.
 */
export class PatternMemory {
  readonly #maxWords: number
  readonly #caches = new Set<Map<string, unknown>>()
  #usedWords = 0

  constructor(maxWords: number) {
    this.#maxWords = maxWords
  }

  /** Called before an entry of this size is added to a cache. */
  reserve(cache: Map<string, unknown>, words: number): void {
    this.#usedWords += words
    if (this.#usedWords > this.#maxWords) {
      for (const full of this.#caches) full.clear()
      this.#caches.clear()
      this.#usedWords = words
    }
    this.#caches.add(cache)
  }
}
