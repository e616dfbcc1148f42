import type { AttemptClass } from '../delivery/attempt.ts'

/**
 * A tally of results for the `rejecting` rule: this many different messages (the threshold, a setting) refused in a row mean a wrong path or
 * an expired token, not bad messages. It stores message ids instead of counts, because a person who redrives one bad message twenty times must not pause the
 * endpoint; never more of them than the threshold. A threshold of 0 disables the rule.
 * A success resets, a permanent result counts once per message, everything else is neutral.
 */
export interface PermanentTally {
  /** Messages refused before the first success (all, when there is none). */
  readonly leading: readonly number[]
  /** Messages refused after the last success (all, when there is none). */
  readonly trailing: readonly number[]
  /** Different messages in the longest inner streak, counted up to the threshold. */
  readonly longest: number
  readonly hasSuccess: boolean
}

export const emptyPermanentTally: PermanentTally = {
  leading: [],
  trailing: [],
  longest: 0,
  hasSuccess: false,
}

const successTally: PermanentTally = { ...emptyPermanentTally, hasSuccess: true }

export function appendPermanent(
  tally: PermanentTally,
  result: { readonly class: AttemptClass; readonly messageId: number },
  threshold: number,
): PermanentTally {
  if (result.class === 'success') return joinPermanentTallies(tally, successTally, threshold)
  if (result.class !== 'permanent' || threshold === 0) return tally
  const messages = [result.messageId]
  const one = { leading: messages, trailing: messages, longest: 1, hasSuccess: false }
  return joinPermanentTallies(tally, one, threshold)
}

/** The summary of `earlier` followed by `later`. Associative, with `emptyPermanentTally` as its neutral element. */
export function joinPermanentTallies(
  earlier: PermanentTally,
  later: PermanentTally,
  threshold: number,
): PermanentTally {
  const join = (first: readonly number[], second: readonly number[]) => joinMessages(first, second, threshold)
  const joined = join(earlier.trailing, later.leading)
  return {
    leading: earlier.hasSuccess ? earlier.leading : join(earlier.leading, later.leading),
    trailing: later.hasSuccess ? later.trailing : join(earlier.trailing, later.trailing),
    longest: Math.max(earlier.longest, later.longest, joined.length),
    hasSuccess: earlier.hasSuccess || later.hasSuccess,
  }
}

/** The endpoint's streak after one more tally, which is to be stored, and whether the endpoint is now `rejecting`. */
export function recordPermanentTally(
  streak: readonly number[],
  tally: PermanentTally,
  threshold: number,
): { readonly streak: readonly number[]; readonly isRejecting: boolean } {
  const before: PermanentTally = {
    leading: streak,
    trailing: streak,
    longest: streak.length,
    hasSuccess: false,
  }
  const { trailing, longest } = joinPermanentTallies(before, tally, threshold)
  return { streak: trailing, isRejecting: threshold > 0 && longest >= threshold }
}

function joinMessages(
  earlier: readonly number[],
  later: readonly number[],
  threshold: number,
): readonly number[] {
  if (later.length === 0) return earlier
  if (earlier.length === 0) return later
  return [...new Set([...earlier, ...later])].slice(0, threshold)
}
