import { badCursor, decodeCursor, encodeCursor } from './cursor.ts'

interface PageRequest {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/**
 * A page of a list that was read completely; without a limit, everything after the cursor. The cursor contains the key of the last row, and its
 * position in case that row has been deleted.
 */
export function pageOfWhole<Row>(
  list: string,
  rows: readonly Row[],
  { limit = rows.length, cursor }: PageRequest,
  keyOf: (row: Row) => string | number,
): { data: Row[]; nextCursor: string | null } {
  const begin = cursor === undefined ? 0 : placeAfter(rows, decodeCursor(list, cursor) ?? '', keyOf)
  const data = rows.slice(begin, begin + limit)
  const last = data.at(-1)
  const end = begin + data.length
  const hasMore = last !== undefined && end < rows.length
  return { data, nextCursor: hasMore ? encodeCursor(list, `${end}:${keyOf(last)}`) : null }
}

function placeAfter<Row>(
  rows: readonly Row[],
  position: string,
  keyOf: (row: Row) => string | number,
): number {
  const [, place, key] = /^(\d{1,9}):(.*)$/s.exec(position) ?? []
  if (place === undefined) throw badCursor()
  const found = rows.findIndex((row) => String(keyOf(row)) === key)
  return found === -1 ? Number(place) - 1 : found + 1
}
