import { expect, it } from 'vitest'
import type { Parsed } from '../core/problem.ts'
import { SchemaCache, type Sized } from './schema-cache.ts'

function cacheOf(maxBytes: number) {
  const cache = new SchemaCache<{ sizeBytes: number }>(maxBytes)
  const compiled: string[] = []
  const get = (text: string, sizeBytes: number): Parsed<Sized> =>
    cache.get(text, () => {
      compiled.push(text)
      return { ok: true, value: { sizeBytes } }
    })
  return { cache, compiled, get }
}

it('drops the least recently used schemas beyond its bytes, not beyond a number of schemas', () => {
  const { compiled, get } = cacheOf(100_000)
  for (const text of ['a', 'b', 'c', 'a', 'd']) get(text, 30_000)
  expect(compiled.join('')).toBe('abcd')
  // "b" was dropped for "d"; "a" had been used since.
  for (const text of ['a', 'd', 'b']) get(text, 30_000)
  expect(compiled.join('')).toBe('abcdb')
})

it('keeps the schema in use, however large', () => {
  const { compiled, get } = cacheOf(10_000)
  get('small', 10)
  get('large', 1_000_000)
  get('large', 1_000_000)
  get('small', 10)
  expect(compiled).toEqual(['small', 'large', 'small'])
})

it('counts refused schemas by their text', () => {
  const cache = new SchemaCache<Sized>(100_000)
  let parsed = 0
  for (const letter of 'aba') {
    cache.get(letter.repeat(40_000), () => {
      parsed += 1
      return { ok: false, problems: [] }
    })
  }
  expect(parsed).toBe(3)
})

it('makes room when a schema has grown', () => {
  const { cache, compiled, get } = cacheOf(100_000)
  get('old', 30_000)
  const grown = { sizeBytes: 30_000 }
  cache.get('grown', () => ({ ok: true, value: grown }))
  grown.sizeBytes = 90_000
  cache.trim()
  get('old', 30_000)
  expect(compiled).toEqual(['old', 'old'])
})
