/** What one look found: rows by id, and where it stopped looking when there may be more. */
export interface FoundIds {
  readonly ids: readonly number[]
  readonly scannedTo: number | null
}

/** How many rows one look may touch: a filter that hardly anything meets answers with an empty page and a cursor, never with a long wait. */
export const maxScannedPerPage = 5_000

/** The largest id that there can be: where a list without a cursor begins. */
export const beforeEverything = Number.MAX_SAFE_INTEGER

/**
 * Splits one row more than asked for off a page. The next page begins before the last row of this one, or where the look stopped.
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
