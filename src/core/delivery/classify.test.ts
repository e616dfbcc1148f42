import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptClass } from './attempt.ts'
import { classifyHttpStatus, isHealthFailureStatus } from './classify.ts'

const anyClass = fc.constantFrom<AttemptClass>('success', 'retryable', 'permanent', 'gone', 'throttled')
const anyStatus = fc.integer({ min: 100, max: 599 })

describe('an HTTP status', () => {
  it.each<[number, boolean, AttemptClass]>([
    [200, false, 'success'],
    [204, true, 'success'],
    [301, false, 'permanent'],
    [304, false, 'permanent'],
    [400, false, 'permanent'],
    [404, true, 'permanent'],
    [408, false, 'retryable'],
    [410, false, 'gone'],
    [425, false, 'retryable'],
    [429, false, 'throttled'],
    [429, true, 'throttled'],
    [500, true, 'retryable'],
    [503, false, 'retryable'],
    [503, true, 'throttled'],
    [599, false, 'retryable'],
    [101, false, 'retryable'],
    [0, false, 'retryable'],
    [700, false, 'retryable'],
  ])('%d (Retry-After: %s) is %s', (status, hasRetryAfter, expected) => {
    expect(classifyHttpStatus(status, hasRetryAfter)).toBe(expected)
  })

  it('is a success only from 200 to 299', () => {
    fc.assert(
      fc.property(fc.integer(), fc.boolean(), (status, hasRetryAfter) => {
        const isSuccess = classifyHttpStatus(status, hasRetryAfter) === 'success'
        expect(isSuccess).toBe(status >= 200 && status <= 299)
      }),
    )
  })

  it('is what the endpoint says, exactly before by the hundred, and untouched where it says nothing', () => {
    fc.assert(
      fc.property(anyStatus, fc.boolean(), anyClass, anyClass, (status, hasRetryAfter, exact, hundred) => {
        const group = `${String(status)[0]}xx`
        const otherGroup = status < 300 ? '5xx' : '2xx'
        expect(classifyHttpStatus(status, hasRetryAfter, { [group]: hundred, [status]: exact })).toBe(exact)
        expect(classifyHttpStatus(status, hasRetryAfter, { [group]: hundred })).toBe(hundred)
        expect(classifyHttpStatus(status, hasRetryAfter, { [otherGroup]: hundred })).toBe(
          classifyHttpStatus(status, hasRetryAfter),
        )
      }),
    )
  })

  it('is a health failure only from 500 to 599', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), (status) => {
        expect(isHealthFailureStatus(status)).toBe(Math.floor(status / 100) === 5)
      }),
    )
  })
})
