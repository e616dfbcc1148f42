import { expect, test } from 'vitest'
import { readFullPage } from './full-page.ts'

/** A list whose searches read three rows each, and find the few that match. */
function listOf(rows: readonly number[], matches: (row: number) => boolean, scanned = 3) {
  return ({ cursor = '0', limit = 50 }: { cursor?: string; limit?: number }) => {
    const from = Number(cursor)
    const data = rows
      .slice(from, from + scanned)
      .filter(matches)
      .slice(0, limit)
    const next = from + scanned
    return Promise.resolve({ data, nextCursor: next < rows.length ? String(next) : null })
  }
}
const rows = Array.from({ length: 100 }, (_, n) => n)

test('short and empty pages are followed until the rare match is found', async () => {
  expect(
    await readFullPage(
      listOf(rows, (row) => row === 97),
      {},
      50,
    ),
  ).toEqual({
    data: [97],
    nextCursor: null,
  })
})

test('a full page keeps the cursor of its end', async () => {
  const read = listOf(rows, (row) => row % 3 === 0)
  expect(await readFullPage(read, {}, 5)).toEqual({ data: [0, 3, 6, 9, 12], nextCursor: '15' })
})

test('a search that takes too long keeps its cursor', async () => {
  let now = 0
  const page = await readFullPage(
    listOf(rows, () => false),
    {},
    50,
    () => {
      now += 1000
      return now
    },
  )
  expect(page.data).toEqual([])
  expect(page.nextCursor).not.toBeNull()
})
