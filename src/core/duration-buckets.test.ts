import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bucketCount, bucketOf, quantileMs } from './duration-buckets.ts'

function count(durations: readonly number[]): number[] {
  const counts = Array.from({ length: bucketCount }, () => 0)
  for (const duration of durations) counts[bucketOf(duration)]! += 1
  return counts
}

describe('durations by size', () => {
  it('have a bucket for everything that a clock may say', () => {
    expect(bucketOf(0)).toBe(0)
    expect(bucketOf(-5)).toBe(0)
    expect(bucketOf(Number.NaN)).toBe(0)
    expect(bucketOf(0.999)).toBe(0)
    expect(bucketOf(1)).toBe(1)
    expect(bucketOf(2)).toBe(5)
    expect(bucketOf(900_000)).toBeLessThan(bucketCount - 1)
    expect(bucketOf(Number.POSITIVE_INFINITY)).toBe(bucketCount - 1)
  })

  it('give quantiles that are off by less than a fifth of themselves or a millisecond', () => {
    const duration = fc.double({ min: 0, max: 900_000, noNaN: true })
    fc.assert(
      fc.property(
        fc.array(duration, { minLength: 1, maxLength: 300 }),
        fc.constantFrom(0.5, 0.95, 0.99),
        (all, share) => {
          const sorted = [...all].sort((first, second) => first - second)
          const exact = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
          const read = quantileMs(count(all), share)!
          expect(Math.abs(read - exact)).toBeLessThanOrEqual(Math.max(1, exact * 0.19))
        },
      ),
    )
  })

  it('can be added up in any order', () => {
    const some = count([1, 5, 30])
    const others = count([2, 700])
    const sum = some.map((value, index) => value + others[index]!)
    expect(sum).toEqual(count([700, 30, 5, 2, 1]))
  })

  it('of nothing have no quantile', () => {
    expect(quantileMs([], 0.5)).toBeNull()
    expect(quantileMs(count([]), 0.99)).toBeNull()
  })
})
