import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptClass } from '../delivery/attempt.ts'
import {
  appendPermanent,
  joinPermanentTallies as concatAt,
  emptyPermanentTally,
  type PermanentTally,
  recordPermanentTally as recordAt,
} from './rejecting.ts'

const rejectingThreshold = 20
const recordPermanentTally = (streak: readonly number[], run: PermanentTally) =>
  recordAt(streak, run, rejectingThreshold)
const joinPermanentTallies = (one: PermanentTally, other: PermanentTally) =>
  concatAt(one, other, rejectingThreshold)

interface Result {
  readonly class: AttemptClass
  readonly messageId: number
}

const anyResults: fc.Arbitrary<Result[]> = fc.array(
  fc.record({
    class: fc.oneof(
      { weight: 30, arbitrary: fc.constant<AttemptClass>('permanent') },
      { weight: 1, arbitrary: fc.constant<AttemptClass>('success') },
      { weight: 3, arbitrary: fc.constantFrom<AttemptClass>('retryable', 'gone', 'throttled') },
    ),
    messageId: fc.nat(40),
  }),
  // Long ones on purpose: short ones never reach the threshold.
  { maxLength: 60, size: 'max' },
)
const summarise = (results: readonly Result[]) =>
  results.reduce((run, result) => appendPermanent(run, result, rejectingThreshold), emptyPermanentTally)
const permanents = (count: number, firstId = 1): Result[] =>
  Array.from({ length: count }, (_, index) => ({ class: 'permanent', messageId: firstId + index }))

/** The rule in plain words, result by result. */
function isRejectingPlainly(results: readonly Result[]): boolean {
  const refused = new Set<number>()
  return results.some((result) => {
    if (result.class === 'success') refused.clear()
    if (result.class === 'permanent') refused.add(result.messageId)
    return refused.size >= rejectingThreshold
  })
}

describe('the rejecting rule', () => {
  it('pauses at twenty different messages refused in a row', () => {
    expect(recordPermanentTally([], summarise(permanents(19))).isRejecting).toBe(false)
    expect(recordPermanentTally([], summarise(permanents(20))).isRejecting).toBe(true)
  })

  it('never pauses with a threshold of 0, and keeps no messages for it', () => {
    const run = permanents(50).reduce((all, each) => appendPermanent(all, each, 0), emptyPermanentTally)
    expect(recordAt([1, 2, 3], run, 0).isRejecting).toBe(false)
    expect(run).toEqual(emptyPermanentTally)
  })

  it('pauses at a threshold that was lowered below what was refused already', () => {
    expect(recordAt([1, 2, 3, 4, 5, 6, 7], emptyPermanentTally, 5).isRejecting).toBe(true)
  })

  it('does not pause for one bad message redriven again and again', () => {
    let streak: readonly number[] = []
    for (let redrive = 0; redrive < 100; redrive += 1) {
      const recorded = recordPermanentTally(streak, summarise(permanents(1)))
      expect(recorded.isRejecting).toBe(false)
      streak = recorded.streak
    }
    expect(streak).toEqual([1])
  })

  it('starts again after a success and only after a success', () => {
    const almost = permanents(19)
    const last: Result = { class: 'permanent', messageId: 99 }
    const between = (attemptClass: AttemptClass) =>
      recordPermanentTally([], summarise([...almost, { class: attemptClass, messageId: 50 }, last]))
        .isRejecting
    expect(between('success')).toBe(false)
    expect(between('retryable')).toBe(true)
    expect(between('throttled')).toBe(true)
    expect(between('gone')).toBe(true)
  })

  it('says the same as the rule in plain words, however the results are cut into batches', () => {
    fc.assert(
      fc.property(fc.array(anyResults, { maxLength: 4 }), (batches) => {
        let streak: readonly number[] = []
        let hasRejected = false
        for (const batch of batches) {
          const recorded = recordPermanentTally(streak, summarise(batch))
          streak = recorded.streak
          hasRejected ||= recorded.isRejecting
        }
        expect(hasRejected).toBe(isRejectingPlainly(batches.flat()))
      }),
      { numRuns: 300 },
    )
  })

  it('sees a streak inside a batch though a success ends it', () => {
    const results: Result[] = [...permanents(20), { class: 'success', messageId: 50 }]
    expect(recordPermanentTally([], summarise(results))).toEqual({ streak: [], isRejecting: true })
  })

  it('joins in any grouping, and never keeps more messages than the threshold', () => {
    fc.assert(
      fc.property(anyResults, anyResults, anyResults, (first, second, third) => {
        const [a, b, c] = [summarise(first), summarise(second), summarise(third)]
        const joined = joinPermanentTallies(joinPermanentTallies(a, b), c)
        expect(joined).toEqual(joinPermanentTallies(a, joinPermanentTallies(b, c)))
        expect(joined).toEqual(summarise([...first, ...second, ...third]))
        expect(Math.max(joined.leading.length, joined.trailing.length)).toBeLessThanOrEqual(
          rejectingThreshold,
        )
      }),
    )
  })
})
