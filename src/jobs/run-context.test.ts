import { describe, expect, test } from 'vitest'
import type { ClaimedRun } from '../storage/claim-runs.ts'
import { jsonOf, RunContext } from './run-context.ts'

const lineOf = (...call: readonly unknown[]) => {
  const context = new RunContext({ attempt: 0 } as ClaimedRun, 'any', 1000, 0, null)
  Reflect.apply(context.logger.info, null, call)
  const [line] = context.lines
  return { message: line?.message, details: line?.details }
}

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const circular = () => {
  const value: { self?: unknown } = {}
  value.self = value
  return value
}

describe('a logger takes', () => {
  test.each([
    ['a text', ['text'], 'text', undefined],
    ['nothing', [], 'undefined', undefined],
    ['details and a text', [{ n: 1 }, 'text'], 'text', { n: 1 }],
    ['a text and details', ['text', { n: 1 }], 'text', { n: 1 }],
    ['a text and an error', ['failed', new TypeError('broken')], 'failed', { error: 'TypeError: broken' }],
    ['an error and a number', [new TypeError('broken'), 5], '5', { error: 'TypeError: broken' }],
    ['details and a number', [{ n: 1 }, 42], '42', { n: 1 }],
    ['details twice', [{ n: 1 }, { m: 2 }], '{"m":2}', { n: 1 }],
    ['a text and a symbol', ['text', Symbol('s')], 'text Symbol(s)', undefined],
    ['a text and null', ['text', null], 'text null', undefined],
    ['a text and an object without a prototype', ['text', Object.create(null)], 'text', undefined],
    ['a text and a circular object', ['text', circular()], 'text', undefined],
    ['a circular object', [circular()], '[object Object]', undefined],
    ['a revoked proxy', [revoked()], 'a value that has no text', undefined],
    ['a text and a revoked proxy', ['text', revoked()], 'a value that has no text', undefined],
  ])('%s', (_, call, message, details) => {
    expect(lineOf(...call)).toEqual({ message, details })
  })
})

test.each([
  ['a NUL', 'a\0b', null],
  ['half of a surrogate pair', '\ud800', null],
  ['a NUL behind a backslash', '\\\0', null],
  ['a backslash before letters that look like an escape', 'C:\\udata\\u0000', '"C:\\\\udata\\\\u0000"'],
])('JSON of %s', (_, value, expected) => {
  expect(jsonOf(value)).toBe(expected)
})
