import type { AttemptClass } from '../delivery/attempt.ts'

export interface AutoDisablePolicy {
  /** Disable at the first response with status 410. */
  readonly onGone: boolean
  /** Consecutive failures that disable the endpoint; null: never. */
  readonly threshold: number | null
  /** Only failures within this time count together. */
  readonly windowMs: number
  /** Enable again after this time; null: only manually. */
  readonly reenableAfterMs: number | null
}

export interface FailureStreak {
  readonly failures: number
  readonly firstFailureAtMs: number | null
}

export const noFailures: FailureStreak = { failures: 0, firstFailureAtMs: null }

export interface StreakOutcome {
  readonly class: AttemptClass
  readonly atMs: number
}

export interface Disablement {
  readonly reason: 'gone' | 'failures'
  readonly atMs: number
  readonly reenableAtMs: number | null
}

/**
 * Counts outcomes in their order and returns whether they disable the endpoint or job. A success resets; a throttle
 * is neutral, as it is for the circuit; every other class is a failure. A streak whose first failure is older than the
 * window starts again with the current failure. After disabling, the remaining outcomes are ignored, and the streak is empty.
 */
export function recordStreak(
  streak: FailureStreak,
  policy: AutoDisablePolicy,
  outcomes: readonly StreakOutcome[],
): { readonly streak: FailureStreak; readonly disablement: Disablement | null } {
  let current = streak
  for (const outcome of outcomes) {
    current = afterOutcome(current, policy, outcome)
    const reason = reasonToDisable(current, policy, outcome)
    if (reason !== null) {
      const reenableAtMs = policy.reenableAfterMs === null ? null : outcome.atMs + policy.reenableAfterMs
      return { streak: noFailures, disablement: { reason, atMs: outcome.atMs, reenableAtMs } }
    }
  }
  return { streak: current, disablement: null }
}

function afterOutcome(
  streak: FailureStreak,
  policy: AutoDisablePolicy,
  outcome: StreakOutcome,
): FailureStreak {
  if (outcome.class === 'success') return noFailures
  if (outcome.class === 'throttled') return streak
  const { failures, firstFailureAtMs } = streak
  if (firstFailureAtMs === null || outcome.atMs - firstFailureAtMs > policy.windowMs) {
    return { failures: 1, firstFailureAtMs: outcome.atMs }
  }
  return { failures: failures + 1, firstFailureAtMs }
}

function reasonToDisable(
  streak: FailureStreak,
  policy: AutoDisablePolicy,
  outcome: StreakOutcome,
): Disablement['reason'] | null {
  if (policy.onGone && outcome.class === 'gone') return 'gone'
  if (policy.threshold !== null && streak.failures >= policy.threshold) return 'failures'
  return null
}
