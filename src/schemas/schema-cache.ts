import type { Parsed } from '../core/problem.ts'

/** A parsed schema that says how much memory it takes, which may grow. */
export interface Sized {
  readonly sizeBytes: number
}

/** Each entry has its text as the key, and some objects. */
const bytesPerEntry = 1000

/** Keeps the schemas that were used last, by their JSON text, up to a number of bytes. */
export class SchemaCache<Value extends Sized> {
  readonly #maxBytes: number
  /** Least recently used first. */
  readonly #parsed = new Map<string, Parsed<Value>>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(text: string, parse: () => Parsed<Value>): Parsed<Value> {
    const known = this.#parsed.get(text)
    const parsed = known ?? parse()
    this.#parsed.delete(text)
    this.#parsed.set(text, parsed)
    if (known === undefined) this.trim()
    return parsed
  }

  /** Drops the least recently used schemas until the rest fits; the last one stays. Called after a schema has grown. */
  trim(): void {
    let totalBytes = 0
    for (const [text, parsed] of this.#parsed) totalBytes += sizeOf(text, parsed)
    for (const [text, parsed] of this.#parsed) {
      if (totalBytes <= this.#maxBytes || this.#parsed.size === 1) return
      this.#parsed.delete(text)
      totalBytes -= sizeOf(text, parsed)
    }
  }
}

function sizeOf(text: string, parsed: Parsed<Sized>): number {
  return bytesPerEntry + 2 * text.length + (parsed.ok ? parsed.value.sizeBytes : 0)
}
