/** The result of one search: the ids found, and where the search stopped if there may be more. */
export interface FoundIds {
  readonly ids: readonly number[]
  readonly scannedTo: number | null
}

/** Maximum number of rows that one search reads: a filter that matches few rows returns an empty page and a cursor, never after a long wait. */
export const maxScannedPerPage = 5_000

/** Larger than any id: the start of a list without a cursor. */
export const beforeEverything = Number.MAX_SAFE_INTEGER

/**
 * Cuts a page that has one row more than requested. The next page begins before the last row of this one, or where the search stopped.
 *
 * @example cutPage({ ids: [9, 7, 5], scannedTo: null }, 2) // { ids: [9, 7], before: 7 }
 */
export function cutPage(
  found: FoundIds,
  limit: number,
): { readonly ids: readonly number[]; readonly before: number | null } {
  const ids = found.ids.slice(0, limit)
  if (found.ids.length > limit) return { ids, before: ids.at(-1) ?? null }
  return { ids, before: found.scannedTo }
}
