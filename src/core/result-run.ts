import type { AttemptOutcome } from './attempt.ts'

/** The part of an outcome that the circuit looks at. */
export type CircuitOutcome = Pick<AttemptOutcome, 'class' | 'isHealthFailure'>

/**
 * An ordered run of results, as small as it can be to still be joined with what came before and after. A settle batch
 * is summarised into one and recorded at once, with the same effect as result by result.
 * A success resets, a health failure counts, everything else is neutral.
 */
export interface ResultRun {
  /** Failures before the first success (all of them, when there is none). */
  readonly leadingFailures: number
  /** The longest streak anywhere inside. */
  readonly longestFailures: number
  /** Failures after the last success (all of them, when there is none). */
  readonly trailingFailures: number
  /** Every result, the neutral ones too. */
  readonly total: number
  readonly hasSuccess: boolean
}

export const emptyRun: ResultRun = {
  leadingFailures: 0,
  longestFailures: 0,
  trailingFailures: 0,
  total: 0,
  hasSuccess: false,
}

const successRun: ResultRun = { ...emptyRun, total: 1, hasSuccess: true }
const neutralRun: ResultRun = { ...emptyRun, total: 1 }
const failureRun: ResultRun = {
  leadingFailures: 1,
  longestFailures: 1,
  trailingFailures: 1,
  total: 1,
  hasSuccess: false,
}

/** Whether the receiver itself is unwell. A throttle, a refused payload or an overridden status never counts. */
export function countsAgainstCircuit(outcome: CircuitOutcome): boolean {
  return outcome.isHealthFailure && outcome.class === 'retryable'
}

export function appendResult(run: ResultRun, outcome: CircuitOutcome): ResultRun {
  if (outcome.class === 'success') return concatRuns(run, successRun)
  return concatRuns(run, countsAgainstCircuit(outcome) ? failureRun : neutralRun)
}

/** The summary of `earlier` followed by `later`. Associative, with `emptyRun` as its neutral element. */
export function concatRuns(earlier: ResultRun, later: ResultRun): ResultRun {
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
