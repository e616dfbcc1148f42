/**
 * The count of a preview, which may be a lower bound.
 *
 * @example estimateOf({ count: 10000, isExact: false }, 'deliveries') // '10000 or more deliveries'
 */
export function estimateOf(
  { count, isExact }: { readonly count: number; readonly isExact: boolean },
  things: string,
): string {
  if (isExact) return countOf(count, things)
  return count === 0 ? `an unknown number of ${things}` : `${count} or more ${things}`
}

/** @example countOf(1, 'deliveries') // '1 delivery' */
export function countOf(count: number, things: string): string {
  return `${count} ${count === 1 ? things.replace(/ies$/, 'y').replace(/s$/, '') : things}`
}
