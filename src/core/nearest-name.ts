/** If more than a third of its letters differ, a name is another word, not a misspelling. */
const maxTypoShare = 1 / 3

/**
 * The candidate that a misspelt name most probably means; null if none is similar enough.
 *
 * @example nearestName('HOLDFAST_PROT', ['HOLDFAST_PORT', 'HOLDFAST_HOST']) // 'HOLDFAST_PORT'
 */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  let nearest: string | null = null
  let fewestEdits = Math.floor(name.length * maxTypoShare) + 1
  for (const candidate of candidates) {
    const edits = countEdits(name, candidate)
    if (edits < fewestEdits) {
      nearest = candidate
      fewestEdits = edits
    }
  }
  return nearest
}

/** Number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function countEdits(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return last[to.length] ?? 0
}
