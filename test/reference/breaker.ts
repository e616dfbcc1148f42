import type { CircuitPolicy } from '../../src/core/health/circuit-policy.ts'
import type { ResultTally } from '../../src/core/health/result-tally.ts'

export type CircuitState = 'closed' | 'open' | 'half_open'

/** The circuit of one endpoint: a versioned row, shared by deliveries and synchronous requests. */
export interface Breaker {
  /** Grows with every transition. A result begun under an older version doesn't count. */
  readonly version: number
  readonly state: CircuitState
  /** Consecutive health failures; while not closed, those that opened it plus the failed probes. */
  readonly failures: number
  /** Since when the circuit isn't closed. A failed probe doesn't move it: it answers "since when is it down". */
  readonly openedAtMs: number | null
  /** From when an open circuit lets one probe through. */
  readonly probeAtMs: number | null
  readonly probeToken: string | null
  /** A probe that hasn't reported by then may be replaced. */
  readonly probeExpiresAtMs: number | null
}

export type CircuitEvent = 'tripped' | 'probe_started' | 'probe_failed' | 'probe_succeeded' | 'reset'

/** The whole state machine. What isn't here is refused. */
export const circuitTransitions: Readonly<
  Record<CircuitState, Readonly<Partial<Record<CircuitEvent, CircuitState>>>>
> = {
  closed: { tripped: 'open', reset: 'closed' },
  open: { probe_started: 'half_open', reset: 'closed' },
  // A probe can start in half_open only to replace an expired one.
  half_open: { probe_started: 'half_open', probe_failed: 'open', probe_succeeded: 'closed', reset: 'closed' },
}

/** What an event did. `event` is null where only the failures were counted, or nothing happened at all. */
export interface BreakerStep {
  readonly breaker: Breaker
  readonly isChanged: boolean
  readonly event: CircuitEvent | null
}

export const newBreaker: Breaker = {
  version: 1,
  state: 'closed',
  failures: 0,
  openedAtMs: null,
  probeAtMs: null,
  probeToken: null,
  probeExpiresAtMs: null,
}

/**
 * Counts a tally of results. Opens when the streak reaches the threshold anywhere inside the tally, even if a
 * success follows: split at any place, the same tally has the same effect.
 */
export function recordTally(
  breaker: Breaker,
  policy: CircuitPolicy,
  tally: ResultTally,
  beganUnderVersion: number,
  nowMs: number,
): BreakerStep {
  if (breaker.state !== 'closed' || beganUnderVersion !== breaker.version) return unchanged(breaker)
  const longest = Math.max(breaker.failures + tally.leadingFailures, tally.longestFailures)
  if (longest >= policy.threshold) {
    return transition(breaker, 'tripped', {
      // Not `longest`: what failed after the opening failure belongs to the version before.
      failures: policy.threshold,
      openedAtMs: nowMs,
      probeAtMs: nowMs + policy.cooldownMs,
    })
  }
  const failures = tally.trailingFailures + (tally.hasSuccess ? 0 : breaker.failures)
  if (failures === breaker.failures) return unchanged(breaker)
  return { breaker: { ...breaker, failures }, isChanged: true, event: null }
}

/** Takes the one probe of a half-open circuit. Refused while it is closed, cooling down or being probed. */
export function startProbe(
  breaker: Breaker,
  token: string,
  nowMs: number,
  probeTimeoutMs: number,
): BreakerStep {
  const freeAtMs = breaker.state === 'half_open' ? breaker.probeExpiresAtMs : breaker.probeAtMs
  if (breaker.state === 'closed' || nowMs < (freeAtMs ?? nowMs)) return unchanged(breaker)
  return transition(breaker, 'probe_started', {
    failures: breaker.failures,
    openedAtMs: breaker.openedAtMs,
    probeToken: token,
    probeExpiresAtMs: nowMs + probeTimeoutMs,
  })
}

/**
 * Ends the probe that holds the token; one that was replaced, or outlived a reset, changes nothing. A probe that was
 * answered without a health failure has succeeded, whatever the receiver thinks of its payload.
 */
export function finishProbe(
  breaker: Breaker,
  policy: CircuitPolicy,
  token: string,
  hasSucceeded: boolean,
  nowMs: number,
): BreakerStep {
  if (breaker.state !== 'half_open' || breaker.probeToken !== token) return unchanged(breaker)
  if (hasSucceeded) return transition(breaker, 'probe_succeeded', {})
  return transition(breaker, 'probe_failed', {
    failures: breaker.failures + 1,
    openedAtMs: breaker.openedAtMs ?? nowMs,
    probeAtMs: nowMs + policy.cooldownMs,
  })
}

/** A person closes the circuit. Also from closed: what failed before they said so shouldn't count. */
export function resetBreaker(breaker: Breaker): BreakerStep {
  return transition(breaker, 'reset', {})
}

function transition(
  breaker: Breaker,
  event: CircuitEvent,
  fields: Partial<Omit<Breaker, 'version' | 'state'>>,
): BreakerStep {
  const state = circuitTransitions[breaker.state][event]
  if (state === undefined) throw new Error(`A circuit that is ${breaker.state} can't be ${event}`)
  return {
    breaker: { ...newBreaker, ...fields, version: breaker.version + 1, state },
    isChanged: true,
    event,
  }
}

function unchanged(breaker: Breaker): BreakerStep {
  return { breaker, isChanged: false, event: null }
}
