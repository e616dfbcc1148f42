import type { AttemptOutcome } from '../delivery/attempt.ts'

/** The part of an outcome that the circuit uses. */
export type CircuitOutcome = Pick<AttemptOutcome, 'class' | 'isHealthFailure'>

/**
 * A summary of consecutive results that can be joined with earlier and later ones. A settle batch is summarised and recorded at once, with the same
 * effect as result by result. A success resets, a health failure counts, everything else is neutral.
 */
export interface ResultTally {
  /** Failures before the first success (all of them, when there is none). */
  readonly leadingFailures: number
  /** The longest streak anywhere in it. */
  readonly longestFailures: number
  /** Failures after the last success (all of them, when there is none). */
  readonly trailingFailures: number
  /** All results, including neutral ones. */
  readonly total: number
  readonly hasSuccess: boolean
}

export const emptyTally: ResultTally = {
  leadingFailures: 0,
  longestFailures: 0,
  trailingFailures: 0,
  total: 0,
  hasSuccess: false,
}

const successTally: ResultTally = { ...emptyTally, total: 1, hasSuccess: true }
const neutralTally: ResultTally = { ...emptyTally, total: 1 }
const failureTally: ResultTally = {
  leadingFailures: 1,
  longestFailures: 1,
  trailingFailures: 1,
  total: 1,
  hasSuccess: false,
}

/** Whether the receiver itself is unavailable. A throttle, a refused payload or an overridden status never counts. */
export function countsAgainstCircuit(outcome: CircuitOutcome): boolean {
  return outcome.isHealthFailure && outcome.class === 'retryable'
}

export function appendResult(tally: ResultTally, outcome: CircuitOutcome): ResultTally {
  if (outcome.class === 'success') return joinTallies(tally, successTally)
  return joinTallies(tally, countsAgainstCircuit(outcome) ? failureTally : neutralTally)
}

/** The summary of `earlier` followed by `later`. Associative, with `emptyTally` as its neutral element. */
export function joinTallies(earlier: ResultTally, later: ResultTally): ResultTally {
  return {
    leadingFailures: earlier.leadingFailures + (earlier.hasSuccess ? 0 : later.leadingFailures),
    longestFailures: Math.max(
      earlier.longestFailures,
      later.longestFailures,
      earlier.trailingFailures + later.leadingFailures,
    ),
    trailingFailures: later.trailingFailures + (later.hasSuccess ? 0 : earlier.trailingFailures),
    total: earlier.total + later.total,
    hasSuccess: earlier.hasSuccess || later.hasSuccess,
  }
}
