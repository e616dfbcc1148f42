import { expect, test } from 'vitest'
import type { Database } from '../storage/database.ts'
import { readPage } from './page.ts'

/** A database in which these ids are found. */
const finding = (ids: readonly number[]) =>
  ({ query: () => Promise.resolve([{ ids, scannedTo: null }]) }) as unknown as Database

test.each([
  [{}, ['waiting', 'succeeded', 'running']],
  [{ state: 'waiting' }, ['waiting']],
  [{ worker: 'press-7' }, ['running']],
])('what has moved on between the search and the reading is left out: %j', async (filter, states) => {
  const rows = [
    { state: 'waiting', worker: null },
    { state: 'succeeded', worker: 'press-8' },
    { state: 'running', worker: 'press-7' },
  ]
  const page = await readPage(
    finding([3, 2, 1]),
    'runs',
    'run',
    filter,
    () => Promise.resolve(rows),
    (row) => row,
  )
  expect(page.data.map(({ state }) => state)).toEqual(states)
})

test('what is in flight is shown as pending', async () => {
  const page = await readPage(
    finding([2, 1]),
    'deliveries',
    'dlv',
    { state: 'in_flight' },
    () => Promise.resolve([{ state: 'pending' }, { state: 'succeeded' }]),
    (row) => row,
  )
  expect(page.data).toEqual([{ state: 'pending' }])
})
