import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptClass } from '../delivery/attempt.ts'
import { type AutoDisablePolicy, noFailures, recordStreak, type StreakOutcome } from './auto-disable.ts'

const policy: AutoDisablePolicy = { onGone: false, threshold: 3, windowMs: 1000, reenableAfterMs: null }
const at = (atMs: number, attemptClass: AttemptClass = 'retryable'): StreakOutcome => ({
  class: attemptClass,
  atMs,
})

const anyOutcomes: fc.Arbitrary<StreakOutcome[]> = fc
  .array(
    fc.tuple(
      fc.nat(400),
      fc.constantFrom<AttemptClass>('success', 'retryable', 'retryable', 'permanent', 'gone', 'throttled'),
    ),
    { maxLength: 30 },
  )
  .map((steps) => {
    let atMs = 0
    return steps.map(([afterMs, attemptClass]) => {
      atMs += afterMs
      return { class: attemptClass, atMs }
    })
  })

describe('auto-disable', () => {
  it('comes at so many failures in a row inside the window', () => {
    const { disablement } = recordStreak(noFailures, policy, [at(0), at(500, 'permanent'), at(1000)])
    expect(disablement).toEqual({ reason: 'failures', atMs: 1000, reenableAtMs: null })
  })

  it('does not come when the first of them is older than the window: the count starts again', () => {
    const { streak, disablement } = recordStreak(noFailures, policy, [at(0), at(500), at(1001)])
    expect(disablement).toBeNull()
    expect(streak).toEqual({ failures: 1, firstFailureAtMs: 1001 })
  })

  it('counts over successes never, over throttles always', () => {
    expect(recordStreak(noFailures, policy, [at(0), at(1), at(2, 'success'), at(3)]).disablement).toBeNull()
    expect(
      recordStreak(noFailures, policy, [at(0), at(1), at(2, 'throttled'), at(3)]).disablement?.atMs,
    ).toBe(3)
  })

  it('comes at the first 410 if asked to, and says when to enable again', () => {
    const gone = { ...policy, onGone: true, reenableAfterMs: 60_000 }
    expect(recordStreak(noFailures, gone, [at(7, 'gone')]).disablement).toEqual({
      reason: 'gone',
      atMs: 7,
      reenableAtMs: 60_007,
    })
    expect(recordStreak(noFailures, policy, [at(7, 'gone')]).disablement).toBeNull()
  })

  it('never comes without a threshold', () => {
    fc.assert(
      fc.property(anyOutcomes, (outcomes) => {
        expect(recordStreak(noFailures, { ...policy, threshold: null }, outcomes).disablement).toBeNull()
      }),
    )
  })

  it('comes only when the last `threshold` outcomes that count were failures, within the window', () => {
    fc.assert(
      fc.property(anyOutcomes, fc.integer({ min: 1, max: 6 }), (outcomes, threshold) => {
        const { disablement } = recordStreak(noFailures, { ...policy, threshold }, outcomes)
        if (disablement === null) return
        const seen = outcomes.filter(({ class: c, atMs }) => c !== 'throttled' && atMs <= disablement.atMs)
        const enough = seen.some((_, end) => {
          const last = seen.slice(Math.max(0, end + 1 - threshold), end + 1)
          return (
            last.length === threshold &&
            last.every(({ class: c }) => c !== 'success') &&
            last.at(-1)!.atMs === disablement.atMs &&
            last.at(-1)!.atMs - last[0]!.atMs <= policy.windowMs
          )
        })
        expect(enough).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('comes at the same moment however the outcomes are cut into batches', () => {
    fc.assert(
      fc.property(anyOutcomes, fc.nat(30), (outcomes, cut) => {
        const whole = recordStreak(noFailures, policy, outcomes)
        const first = recordStreak(noFailures, policy, outcomes.slice(0, cut))
        const inPieces = first.disablement ? first : recordStreak(first.streak, policy, outcomes.slice(cut))
        expect(inPieces).toEqual(whole)
      }),
    )
  })
})
