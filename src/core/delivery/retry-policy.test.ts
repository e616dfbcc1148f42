import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { presets } from '../endpoints/presets.ts'
import { mayRetry, type RetryPolicy, retryDelayMs } from './retry-policy.ts'

const plain: RetryPolicy = { ...presets.standard.retry, jitter: 'none' }
const dayMs = 86_400_000
const delay = fc.integer({ min: 100, max: dayMs })
const anyPolicy: fc.Arbitrary<RetryPolicy> = fc.record({
  strategy: fc.constantFrom('exponential', 'linear', 'fixed', 'schedule'),
  baseDelayMs: delay,
  maxDelayMs: delay,
  incrementMs: delay,
  maxRetries: fc.nat(1000),
  jitter: fc.constantFrom('none', 'full', 'equal'),
  giveUpAfterMs: delay,
  delaysMs: fc.array(delay, { minLength: 1, maxLength: 10 }),
})
const anyRetry = fc.integer({ min: 1, max: 1_000_000 })
const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const never = () => 0

const delaysOf = (policy: RetryPolicy, retries: number) =>
  Array.from({ length: retries }, (_, index) => retryDelayMs(policy, index + 1, never))

describe('the delay before a retry', () => {
  it('doubles up to the cap when exponential', () => {
    const policy = { ...plain, baseDelayMs: 1000, maxDelayMs: 6000 }
    expect(delaysOf(policy, 5)).toEqual([1000, 2000, 4000, 6000, 6000])
  })

  it('grows by the increment up to the cap when linear', () => {
    const policy: RetryPolicy = {
      ...plain,
      strategy: 'linear',
      baseDelayMs: 1000,
      incrementMs: 500,
      maxDelayMs: 2200,
    }
    expect(delaysOf(policy, 5)).toEqual([1000, 1500, 2000, 2200, 2200])
  })

  it('stays the same when fixed', () => {
    expect(delaysOf({ ...plain, strategy: 'fixed', baseDelayMs: 700 }, 3)).toEqual([700, 700, 700])
  })

  it('follows a schedule over every cap and repeats its last delay', () => {
    const policy: RetryPolicy = {
      ...plain,
      strategy: 'schedule',
      delaysMs: [5000, 36_000_000],
      maxDelayMs: 300_000,
    }
    expect(delaysOf(policy, 4)).toEqual([5000, 36_000_000, 36_000_000, 36_000_000])
  })

  it('is a whole number between 1 ms and a day for any policy, retry and luck', () => {
    fc.assert(
      fc.property(anyPolicy, anyRetry, anyRandom, (policy, retry, luck) => {
        const delayMs = retryDelayMs(policy, retry, () => luck)
        expect(Number.isInteger(delayMs)).toBe(true)
        expect(delayMs).toBeGreaterThanOrEqual(1)
        expect(delayMs).toBeLessThanOrEqual(dayMs)
      }),
    )
  })

  it('never exceeds the cap, unless a schedule says so', () => {
    fc.assert(
      fc.property(anyPolicy, anyRetry, anyRandom, (policy, retry, luck) => {
        fc.pre(policy.strategy !== 'schedule')
        expect(retryDelayMs(policy, retry, () => luck)).toBeLessThanOrEqual(policy.maxDelayMs)
      }),
    )
  })

  it('never shrinks from one retry to the next without jitter, unless a schedule says so', () => {
    fc.assert(
      fc.property(anyPolicy, anyRetry, (anyJitter, retry) => {
        const policy: RetryPolicy = { ...anyJitter, jitter: 'none' }
        fc.pre(policy.strategy !== 'schedule')
        expect(retryDelayMs(policy, retry + 1, never)).toBeGreaterThanOrEqual(
          retryDelayMs(policy, retry, never),
        )
      }),
    )
  })

  it('lies between nothing and the whole with full jitter, between the half and the whole with equal jitter', () => {
    fc.assert(
      fc.property(anyPolicy, anyRetry, anyRandom, (policy, retry, luck) => {
        const wholeMs = retryDelayMs({ ...policy, jitter: 'none' }, retry, never)
        expect(retryDelayMs({ ...policy, jitter: 'full' }, retry, () => luck)).toBe(
          Math.max(1, Math.round(wholeMs * luck)),
        )
        const equalMs = retryDelayMs({ ...policy, jitter: 'equal' }, retry, () => luck)
        expect(equalMs).toBeGreaterThanOrEqual(Math.floor(wholeMs / 2))
        expect(equalMs).toBeLessThanOrEqual(wholeMs)
      }),
    )
  })
})

describe('maxRetries', () => {
  it('counts the tries after the first', () => {
    fc.assert(
      fc.property(fc.nat(1000), (maxRetries) => {
        let tries = 1
        while (mayRetry({ ...plain, maxRetries }, tries - 1)) tries += 1
        expect(tries).toBe(maxRetries + 1)
      }),
    )
  })
})
