import { expect, test } from 'vitest'
import { RecentJoins } from './recent-joins.ts'

test('a node remembers the latest joins, and forgets the oldest of more than its bound', () => {
  const joins = new RecentJoins(3)
  for (const incarnation of [1, 2, 3, 4, 5]) joins.remember(`join-${incarnation}`, incarnation)
  expect(joins.size).toBe(3)
  expect([1, 2, 3, 4, 5].map((number) => joins.incarnationOf(`join-${number}`))).toEqual([
    undefined,
    undefined,
    3,
    4,
    5,
  ])
})

test('a join that is answered again takes no second place', () => {
  const joins = new RecentJoins(2)
  for (const incarnation of [1, 1, 1, 2]) joins.remember(`join-${incarnation}`, incarnation)
  expect(joins.incarnationOf('join-1')).toBe(1)
})
