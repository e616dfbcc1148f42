import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AttemptClass } from '../delivery/attempt.ts'
import {
  appendResult,
  type CircuitOutcome,
  countsAgainstCircuit,
  emptyTally,
  joinTallies,
} from './result-tally.ts'

const success: CircuitOutcome = { class: 'success', isHealthFailure: false }
const failure: CircuitOutcome = { class: 'retryable', isHealthFailure: true }
const neutral: CircuitOutcome = { class: 'permanent', isHealthFailure: false }
const anyOutcomes = fc.array(fc.constantFrom(success, failure, failure, neutral), { maxLength: 30 })
const summarise = (outcomes: readonly CircuitOutcome[]) => outcomes.reduce(appendResult, emptyTally)

/** The streaks between successes, counted the plain way. */
function streaks(outcomes: readonly CircuitOutcome[]): number[] {
  const counts = [0]
  for (const outcome of outcomes) {
    if (outcome === success) counts.push(0)
    else if (outcome === failure) counts.push(counts.pop()! + 1)
  }
  return counts
}

describe('a tally of results', () => {
  it('knows its first, last and longest streak of failures', () => {
    fc.assert(
      fc.property(anyOutcomes, (outcomes) => {
        const expected = streaks(outcomes)
        expect(summarise(outcomes)).toEqual({
          leadingFailures: expected[0],
          longestFailures: Math.max(...expected),
          trailingFailures: expected.at(-1),
          total: outcomes.length,
          hasSuccess: expected.length > 1,
        })
      }),
    )
  })

  it('is the same joined from two parts as in one', () => {
    fc.assert(
      fc.property(anyOutcomes, anyOutcomes, (earlier, later) => {
        expect(joinTallies(summarise(earlier), summarise(later))).toEqual(summarise([...earlier, ...later]))
      }),
    )
  })

  it('joins in any grouping, and with an empty one to itself', () => {
    fc.assert(
      fc.property(anyOutcomes, anyOutcomes, anyOutcomes, (first, second, third) => {
        const [a, b, c] = [summarise(first), summarise(second), summarise(third)]
        expect(joinTallies(joinTallies(a, b), c)).toEqual(joinTallies(a, joinTallies(b, c)))
        expect(joinTallies(emptyTally, a)).toEqual(a)
        expect(joinTallies(a, emptyTally)).toEqual(a)
      }),
    )
  })

  it.each<[AttemptClass, boolean]>([
    ['success', false],
    ['retryable', true],
    ['permanent', false],
    ['gone', false],
    ['throttled', false],
  ])(
    'with a sick receiver counts an attempt that ends as %s against the circuit: %s',
    (attemptClass, expected) => {
      expect(countsAgainstCircuit({ class: attemptClass, isHealthFailure: true })).toBe(expected)
    },
  )
})
