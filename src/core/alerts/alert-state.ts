/** How long a condition must hold to become an alert, and how often notifications are sent. */
export interface AlertTiming {
  readonly holdMs: number
  readonly remindMs: number
  readonly clearMs: number
}

/** One incident: one rule, one subject, from the first time its condition is met to its resolution. Times are in database time. */
export interface Incident {
  readonly state: 'pending' | 'firing'
  readonly sinceMs: number
  readonly firedAtMs: number | null
  /** Since when the condition has not been met. */
  readonly clearSinceMs: number | null
  /** When the last notification was sent. */
  readonly noticedAtMs: number | null
  readonly isAcknowledged: boolean
  readonly silencedUntilMs: number | null
}

export type NoticeKind = 'firing' | 'reminder' | 'resolved'

export interface Observation {
  readonly isMet: boolean
  readonly nowMs: number
  /** False if the rule has just notified: new incidents wait, so that many of them result in one notification. */
  readonly maySpeak: boolean
}

export type AlertStep =
  | { readonly incident: Incident; readonly notice: NoticeKind | null }
  /** The incident has ended: it is resolved if it had fired, and deleted otherwise. */
  | { readonly incident: null; readonly hasFired: boolean; readonly notice: 'resolved' | null }

/*
 *            met                    met for holdMs                       clear for clearMs
 *   (none) ───────► pending ─────────────────────────► firing ──────────────────────────────► (resolved)
 *                      │ not met                        │    ▲
 *                      ▼                                └────┘ met again before that: the same incident
 *                   (forgotten)
 *
 * Notifications: `firing` once, `reminder` every remindMs unless acknowledged, `resolved` only if a `firing` was sent. None while silenced.
 */
export function stepAlert(
  incident: Incident | null,
  observation: Observation,
  timing: AlertTiming,
): AlertStep {
  const { isMet, nowMs } = observation
  if (incident === null) {
    return isMet
      ? pending(begin(nowMs), observation, timing)
      : { incident: null, hasFired: false, notice: null }
  }
  if (incident.state === 'pending') {
    return isMet ? pending(incident, observation, timing) : { incident: null, hasFired: false, notice: null }
  }
  return isMet
    ? firing({ ...incident, clearSinceMs: null }, observation, timing)
    : clearing({ ...incident, clearSinceMs: incident.clearSinceMs ?? nowMs }, observation, timing)
}

function begin(nowMs: number): Incident {
  return {
    state: 'pending',
    sinceMs: nowMs,
    firedAtMs: null,
    clearSinceMs: null,
    noticedAtMs: null,
    isAcknowledged: false,
    silencedUntilMs: null,
  }
}

function pending(incident: Incident, observation: Observation, timing: AlertTiming): AlertStep {
  const { nowMs } = observation
  if (nowMs - incident.sinceMs < timing.holdMs) return { incident, notice: null }
  return firing({ ...incident, state: 'firing', firedAtMs: nowMs }, observation, timing)
}

function firing(incident: Incident, observation: Observation, timing: AlertTiming): AlertStep {
  const { nowMs } = observation
  const notice = dueNotice(incident, nowMs, timing)
  if (notice === null || !maySpeak(incident, observation)) return { incident, notice: null }
  return { incident: { ...incident, noticedAtMs: nowMs }, notice }
}

function dueNotice(incident: Incident, nowMs: number, timing: AlertTiming): 'firing' | 'reminder' | null {
  if (incident.isAcknowledged) return null
  if (incident.noticedAtMs === null) return 'firing'
  return nowMs - incident.noticedAtMs >= timing.remindMs ? 'reminder' : null
}

function clearing(incident: Incident, observation: Observation, timing: AlertTiming): AlertStep {
  const { nowMs } = observation
  if (nowMs - (incident.clearSinceMs ?? nowMs) < timing.clearMs) return { incident, notice: null }
  const isToldOf = incident.noticedAtMs !== null && !isSilenced(incident, nowMs)
  if (!isToldOf) return { incident: null, hasFired: true, notice: null }
  // The `resolved` notification is also delayed.
  return observation.maySpeak
    ? { incident: null, hasFired: true, notice: 'resolved' }
    : { incident, notice: null }
}

function maySpeak(incident: Incident, { maySpeak, nowMs }: Observation): boolean {
  return maySpeak && !isSilenced(incident, nowMs)
}

function isSilenced({ silencedUntilMs }: Incident, nowMs: number): boolean {
  return silencedUntilMs !== null && silencedUntilMs > nowMs
}
