import type { AttemptClass } from './attempt.ts'

/** So many different messages refused in a row mean a wrong path or an expired token, not bad messages. */
export const rejectingThreshold = 20

/**
 * An ordered run of results as the `rejecting` rule sees it. It keeps message ids instead of counts, since a person
 * who redrives one bad message twenty times must not pause the endpoint; never more than `rejectingThreshold` of them.
 * A success resets, a permanent result counts once per message, everything else is neutral.
 */
export interface PermanentRun {
  /** Messages refused before the first success (all, when there is none). */
  readonly leading: readonly number[]
  /** Messages refused after the last success (all, when there is none). */
  readonly trailing: readonly number[]
  /** Different messages in the longest streak inside, counted up to the threshold. */
  readonly longest: number
  readonly hasSuccess: boolean
}

export const emptyPermanentRun: PermanentRun = { leading: [], trailing: [], longest: 0, hasSuccess: false }

const successRun: PermanentRun = { ...emptyPermanentRun, hasSuccess: true }

export function appendPermanent(
  run: PermanentRun,
  result: { readonly class: AttemptClass; readonly messageId: number },
): PermanentRun {
  if (result.class === 'success') return concatPermanentRuns(run, successRun)
  if (result.class !== 'permanent') return run
  const messages = [result.messageId]
  return concatPermanentRuns(run, { leading: messages, trailing: messages, longest: 1, hasSuccess: false })
}

/** The summary of `earlier` followed by `later`. Associative, with `emptyPermanentRun` as its neutral element. */
export function concatPermanentRuns(earlier: PermanentRun, later: PermanentRun): PermanentRun {
  const joined = joinMessages(earlier.trailing, later.leading)
  return {
    leading: earlier.hasSuccess ? earlier.leading : joinMessages(earlier.leading, later.leading),
    trailing: later.hasSuccess ? later.trailing : joinMessages(earlier.trailing, later.trailing),
    longest: Math.max(earlier.longest, later.longest, joined.length),
    hasSuccess: earlier.hasSuccess || later.hasSuccess,
  }
}

/** The endpoint's streak after one more run, and whether the run made it `rejecting`. The streak is what to store. */
export function recordPermanentRun(
  streak: readonly number[],
  run: PermanentRun,
): { readonly streak: readonly number[]; readonly isRejecting: boolean } {
  const before: PermanentRun = {
    leading: streak,
    trailing: streak,
    longest: streak.length,
    hasSuccess: false,
  }
  const { trailing, longest } = concatPermanentRuns(before, run)
  return { streak: trailing, isRejecting: longest >= rejectingThreshold }
}

function joinMessages(earlier: readonly number[], later: readonly number[]): readonly number[] {
  if (later.length === 0) return earlier
  if (earlier.length === 0) return later
  return [...new Set([...earlier, ...later])].slice(0, rejectingThreshold)
}
