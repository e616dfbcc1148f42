import { expect, it } from 'vitest'
import { PatternMemory } from './pattern-memory.ts'

it('empties all caches when together they exceed the limit', () => {
  const memory = new PatternMemory(10)
  const [first, second] = [new Map<string, unknown>(), new Map<string, unknown>()]
  const add = (cache: Map<string, unknown>, key: string): void => {
    memory.reserve(cache, 4)
    cache.set(key, key)
  }
  add(first, 'a')
  add(second, 'b')
  expect([first.size, second.size]).toEqual([1, 1])
  add(second, 'c')
  expect([first.size, second.size]).toEqual([0, 1])
  add(first, 'd')
  expect([first.size, second.size]).toEqual([1, 1])
})
