import { expect, test } from 'vitest'
import { RecentSet } from './recent-set.ts'

test('a recent set has the numbers that were added last, and forgets the oldest', () => {
  const set = new RecentSet(3)
  for (const number of [1, 2, 3, 2, 4, 5]) set.add(number)
  expect([1, 2, 3, 4, 5].filter((number) => set.has(number))).toEqual([3, 4, 5])
})
