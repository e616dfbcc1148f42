/** Reads values by their keys from a table with the columns `key` and `value`. */
export type ReadTable = (table: string, keys: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** A source of names: the configuration, a table, or none. */
export interface Names {
  /** Returns those of these keys, the preferred one first, that must be loaded before `get` can return the first name among them. */
  unknown(keys: readonly string[]): readonly string[]
  load(keys: readonly string[]): Promise<void>
  /** Returns null if the key has no name. */
  get(key: string): string | null
}

/** The key of the default name, for all keys without one. */
export const anyKey = '*'

export function mappedNames(map: Readonly<Record<string, string>>): Names {
  const names = new Map(Object.entries(map))
  return {
    unknown: () => [],
    load: async () => {},
    get: (key) => names.get(key) ?? null,
  }
}

export const noNames: Names = { unknown: () => [], load: async () => {}, get: () => null }

const maxCached = 20_000
/** Cache time of a name, and of a missing name: a changed name is used after the first, an added one after the second. */
const hitsLastMs = 60_000
const missesLastMs = 5000

interface CachedName {
  readonly value: string | null
  readonly untilMs: number
}

/** Names from a table, a limited number of them cached for a minute: many events concern the same learners and courses. */
export function tableNames(table: string, readTable: ReadTable, nowMs: () => number): Names {
  const cache = new Map<string, CachedName>()

  function fresh(key: string): CachedName | undefined {
    const cached = cache.get(key)
    return cached !== undefined && cached.untilMs > nowMs() ? cached : undefined
  }

  async function load(keys: readonly string[]): Promise<void> {
    const found = await readTable(table, keys)
    const now = nowMs()
    for (const key of keys) {
      const value = found.get(key) ?? null
      cache.delete(key)
      cache.set(key, { value, untilMs: now + (value === null ? missesLastMs : hitsLastMs) })
    }
    for (const key of cache.keys()) {
      if (cache.size <= Math.max(maxCached, keys.length)) break
      cache.delete(key)
    }
  }

  function unknown(keys: readonly string[]): readonly string[] {
    const missing: string[] = []
    for (const key of keys) {
      const cached = fresh(key)
      if (cached === undefined) missing.push(key)
      else {
        // Least recently used names are evicted first: a load must not evict a name that its own batch needs.
        cache.delete(key)
        cache.set(key, cached)
        if (cached.value !== null && cached.value !== '' && missing.length === 0) break
      }
    }
    return missing
  }

  return { unknown, load, get: (key) => cache.get(key)?.value ?? null }
}
