import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Ramp } from './ramp.ts'

const anyConcurrency = fc.integer({ min: 1, max: 10_000 })

describe('the ramp after a circuit has closed', () => {
  it('doubles after each full round of successes, up to the concurrency', () => {
    const ramp = new Ramp(6)
    const limits = Array.from({ length: 8 }, () => {
      const { limit } = ramp
      ramp.succeeded()
      return limit
    })
    expect(limits).toEqual([1, 2, 2, 4, 4, 4, 4, 6])
    expect(ramp.isComplete).toBe(true)
  })

  it('is complete after fewer successes than twice the concurrency', () => {
    fc.assert(
      fc.property(anyConcurrency, (concurrency) => {
        const ramp = new Ramp(concurrency)
        let successes = 0
        for (; !ramp.isComplete; successes += 1) ramp.succeeded()
        expect(successes).toBeLessThan(2 * concurrency)
        expect(ramp.limit).toBe(concurrency)
      }),
    )
  })

  it('stays between 1 and the concurrency through anything', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.boolean(), { maxLength: 200 }),
        (concurrency, results) => {
          const ramp = new Ramp(concurrency)
          for (const hasSucceeded of results) {
            if (hasSucceeded) ramp.succeeded()
            else ramp.failed()
            expect(ramp.limit).toBeGreaterThanOrEqual(1)
            expect(ramp.limit).toBeLessThanOrEqual(concurrency)
          }
        },
      ),
    )
  })

  it('falls back to 1 when everything fails', () => {
    const ramp = new Ramp(64)
    for (let count = 0; count < 40; count += 1) ramp.succeeded()
    expect(ramp.limit).toBe(32)
    for (let count = 0; count < 20; count += 1) ramp.failed()
    expect(ramp.limit).toBe(1)
  })

  it('gets to the top with a receiver that fails one time in ten', () => {
    const ramp = new Ramp(64)
    for (let count = 1; count < 200; count += 1) {
      if (count % 10 === 0) ramp.failed()
      else ramp.succeeded()
    }
    expect(ramp.isComplete).toBe(true)
  })
})
