import { expect, it } from 'vitest'
import { BoundedCache } from './bounded-cache.ts'

it('drops the oldest values when all together are too heavy', () => {
  const cache = new BoundedCache<number>(10)
  cache.set('a', 1, 4)
  cache.set('b', 2, 4)
  cache.set('a', 3, 4)
  expect([...cache.entries()]).toEqual([
    ['b', 2],
    ['a', 3],
  ])
  cache.set('c', 4, 4)
  expect([...cache.entries()]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
  cache.delete('a')
  cache.set('d', 5, 6)
  expect([cache.get('c'), cache.get('d'), cache.has('a')]).toEqual([4, 5, false])
})

it('keeps the newest value, however heavy', () => {
  const cache = new BoundedCache<number>(10)
  cache.set('a', 1, 4)
  cache.set('b', 2, 40)
  expect([...cache.entries()]).toEqual([['b', 2]])
})
