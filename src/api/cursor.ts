import { HoldfastError } from '../core/errors.ts'

/** Encodes the position where a page of `list` ended as opaque text. It contains the list's name, so that no other list accepts it. */
export function encodeCursor(list: string, position: string): string {
  return Buffer.from(`${list} ${position}`, 'utf8').toString('base64url')
}

/** Undefined for the first page. */
export function decodeCursor(list: string, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  const position = Buffer.from(cursor, 'base64url')
    .toString('utf8')
    .slice(list.length + 1)
  // PostgreSQL text can't contain NUL, and a cursor that doesn't encode back to itself isn't ours.
  if (position === '' || position.includes('\0') || encodeCursor(list, position) !== cursor) throw badCursor()
  return position
}

/** For lists ordered by a number. */
export function decodeNumberCursor(list: string, cursor: string | undefined): number | undefined {
  const position = decodeCursor(list, cursor)
  if (position === undefined) return undefined
  const value = Number(position)
  if (!Number.isSafeInteger(value) || value < 0) throw badCursor()
  return value
}

/** Makes a page of rows that were read with one more than `limit`, to see whether others follow. */
export function toPage<Row>(
  list: string,
  rows: readonly Row[],
  limit: number,
  positionOf: (row: Row) => string,
): { data: Row[]; nextCursor: string | null } {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  return {
    data,
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(list, positionOf(last)) : null,
  }
}

export function badCursor(): HoldfastError {
  return new HoldfastError('invalid_request', 'The cursor does not belong to this list.', {
    problems: [{ path: 'cursor', message: 'must be the nextCursor of the previous page, or left out' }],
  })
}
