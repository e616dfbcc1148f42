import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultBurst, RateLimiter } from './rate-limiter.ts'

const anyRate = fc.double({ min: 0.001, max: 100_000, noNaN: true })
const anyBurst = fc.integer({ min: 1, max: 50 })
const startMs = 1_700_000_000_000

/** Takes as much as it is given at each instant, and says how much that was. */
function grantsAt(limiter: RateLimiter, nowMs: number, most = 1000): number {
  let grants = 0
  while (grants < most && limiter.tryTake(nowMs)) grants += 1
  return grants
}

describe('the rate limiter', () => {
  it('grants nothing at first: its predecessor may have given the burst a moment ago', () => {
    fc.assert(
      fc.property(anyRate, anyBurst, (rate, burst) => {
        expect(new RateLimiter(rate, burst).tryTake(startMs)).toBe(false)
      }),
    )
  })

  it('counts the time since the bucket was known to be empty', () => {
    const limiter = new RateLimiter(1, 5, startMs - 3000)
    expect(grantsAt(limiter, startMs)).toBe(3)
  })

  it('grants at most rate · window + burst over any window, whatever the clock does', () => {
    const anyStepMs = fc.oneof(fc.nat(50), fc.nat(5000), fc.integer({ min: -10_000, max: 0 }))
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 500, noNaN: true }),
        anyBurst,
        fc.array(anyStepMs, { maxLength: 40 }),
        (rate, burst, stepsMs) => {
          const limiter = new RateLimiter(rate, burst)
          let nowMs = startMs
          let elapsedMs = 0
          const moments = stepsMs.map((stepMs) => {
            nowMs += stepMs
            elapsedMs += Math.max(0, stepMs)
            return { elapsedMs, grants: grantsAt(limiter, nowMs) }
          })
          for (let from = 0; from < moments.length; from += 1) {
            let granted = 0
            for (const moment of moments.slice(from)) {
              granted += moment.grants
              const windowMs = moment.elapsedMs - moments[from]!.elapsedMs
              expect(granted).toBeLessThanOrEqual((rate * windowMs) / 1000 + burst + 1e-6)
            }
          }
        },
      ),
    )
  })

  it('reaches its rate when asked often enough', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (rate) => {
        const limiter = new RateLimiter(rate)
        let granted = 0
        limiter.tryTake(startMs)
        for (let nowMs = startMs; nowMs <= startMs + 2000; nowMs += 10) {
          granted += grantsAt(limiter, nowMs, 1e6)
        }
        expect(granted).toBeGreaterThanOrEqual(Math.floor(rate * 2 * 0.9))
        expect(granted).toBeLessThanOrEqual(rate * 2)
      }),
      { numRuns: 20 },
    )
  })

  it('grants at the time that it names, and not before', () => {
    const anyClock = fc.double({ min: 0, max: 2e12, noNaN: true })
    fc.assert(
      fc.property(anyRate, anyBurst, anyClock, fc.nat(60), (rate, burst, clockMs, taken) => {
        const limiter = new RateLimiter(rate, burst, clockMs - 1e7)
        for (let count = 0; count < taken; count += 1) limiter.tryTake(clockMs)
        const nextMs = limiter.nextAtMs(clockMs)
        if (nextMs > clockMs) expect(limiter.tryTake(clockMs)).toBe(false)
        expect(limiter.tryTake(nextMs)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('names no time at which rounding still refuses it', () => {
    const clockMs = startMs + 2 ** -12
    const limiter = new RateLimiter(1000.2341954596714, 1, clockMs)
    expect(limiter.tryTake(limiter.nextAtMs(clockMs))).toBe(true)
  })

  it('is not stalled by a clock that steps back', () => {
    const limiter = new RateLimiter(1, 1, startMs)
    expect(limiter.tryTake(startMs + 1000)).toBe(true)
    const anHourEarlierMs = startMs - 3_600_000
    expect(limiter.tryTake(anHourEarlierMs)).toBe(false)
    expect(limiter.nextAtMs(anHourEarlierMs)).toBe(anHourEarlierMs + 1000)
    expect(limiter.tryTake(anHourEarlierMs + 1000)).toBe(true)
  })

  it('lets a tenth of a second’s worth through at once, and never two where the rate is low', () => {
    expect([0.001, 1, 10, 11, 1000].map(defaultBurst)).toEqual([1, 1, 1, 2, 100])
  })

  it.each([
    [0, 1],
    [-1, 1],
    [Number.NaN, 1],
    [1, 0],
  ])('can’t be made with a rate of %d and a burst of %d', (rate, burst) => {
    expect(() => new RateLimiter(rate, burst)).toThrow(RangeError)
  })
})
