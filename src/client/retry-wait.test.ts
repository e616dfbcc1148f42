import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Operation } from '../contract/operation.ts'
import { operations } from '../contract/operations.ts'
import { type Failure, maxRetryAfterMs, parseRetryAfterMs, retryWaitMs } from './retry-wait.ts'

const read = operations.endpoints.list as unknown as Operation
const write = operations.endpoints.create as unknown as Operation
const once = operations.access.createKey as unknown as Operation

const network: Failure = { kind: 'network' }
function answer(status: number, code = 'some_code', retryAfterMs: number | null = null): Failure {
  return { kind: 'answer', status, code, retryAfterMs }
}

describe('what is tried again', () => {
  test.each([
    ['a read whose answer was lost', read, network, true],
    ['a write with a key whose answer was lost', write, network, true],
    ['a write that has no kept result, whose answer was lost', once, network, false],
    ['a read that failed on the server', read, answer(500), true],
    ['a write that failed on the server', write, answer(500), false],
    ['a write that a gateway lost', write, answer(502), true],
    ['a write while the database is away', write, answer(503), true],
    ['a write that has no kept result, while the database is away', once, answer(503), false],
    ['whatever was refused before it was done', once, answer(429), true],
    ['a write whose first try is still going on', write, answer(409, 'idempotency_in_flight'), true],
    ['a conflict', write, answer(409), false],
    ['bad input', read, answer(422), false],
    ['a refused key', read, answer(401), false],
  ])('%s: %#', (_, operation, failure, isTried) => {
    expect(retryWaitMs(operation, failure, 0, 0.5) !== null).toBe(isTried)
  })
})

test('waits at least as long as it was asked to, and not for longer than it makes sense', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 90_000 }),
      fc.nat({ max: 20 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (askedMs, repeat, random) => {
        const waitMs = retryWaitMs(read, answer(503, 'database_unavailable', askedMs), repeat, random)
        if (askedMs > maxRetryAfterMs) return waitMs === null
        return waitMs !== null && waitMs >= askedMs && waitMs <= askedMs + 1000
      },
    ),
  )
})

test('without such a wish, backs off with jitter up to five seconds', () => {
  const waits = [0, 1, 2, 3, 10].map((repeat) => [
    retryWaitMs(read, network, repeat, 0),
    retryWaitMs(read, network, repeat, 1),
  ])
  expect(waits).toEqual([
    [100, 200],
    [200, 400],
    [400, 800],
    [800, 1600],
    [2500, 5000],
  ])
})

test('reads Retry-After as seconds and as a date', () => {
  const nowMs = Date.parse('2030-01-01T00:00:00Z')
  expect(parseRetryAfterMs('7', nowMs)).toBe(7000)
  expect(parseRetryAfterMs('Tue, 01 Jan 2030 00:00:09 GMT', nowMs)).toBe(9000)
  expect(parseRetryAfterMs('soon', nowMs)).toBeNull()
  expect(parseRetryAfterMs(null, nowMs)).toBeNull()
})
