/** Reads values by their keys from a table with the columns `key` and `value`. */
export type ReadTable = (table: string, keys: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** Where names come from: the configuration, a table, or nowhere. */
export interface Names {
  /** Those of these keys that must be loaded before `get` can tell. */
  unknown(keys: readonly string[]): readonly string[]
  load(keys: readonly string[]): Promise<void>
  /** Null when there is none for the key. */
  get(key: string): string | null
}

const anyKey = '*'

export function mappedNames(map: Readonly<Record<string, string>>): Names {
  const names = new Map(Object.entries(map))
  return {
    unknown: () => [],
    load: async () => {},
    get: (key) => names.get(key) ?? names.get(anyKey) ?? null,
  }
}

export const noNames: Names = { unknown: () => [], load: async () => {}, get: () => null }

const maxCached = 20_000
/** A changed name is used after this time; one that was added, after the shorter one. */
const hitsLastMs = 60_000
const missesLastMs = 5000

interface CachedName {
  readonly value: string | null
  readonly untilMs: number
}

/** Names of a table, as many as fit kept for a minute: events come in swarms of the same learners and courses. */
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
      // Those that were loaded last are kept longest.
      cache.delete(key)
      cache.set(key, { value, untilMs: now + (value === null ? missesLastMs : hitsLastMs) })
    }
    for (const key of cache.keys()) {
      if (cache.size <= Math.max(maxCached, keys.length)) break
      cache.delete(key)
    }
  }

  return {
    unknown: (keys) => keys.filter((key) => fresh(key) === undefined),
    load,
    get: (key) => cache.get(key)?.value ?? null,
  }
}
