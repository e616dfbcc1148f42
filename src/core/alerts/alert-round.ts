import type { Notice, NoticeIncident } from './alert-notice.ts'
import { type AlertTiming, type Incident, type NoticeKind, stepAlert } from './alert-state.ts'

export interface RoundRule extends AlertTiming {
  readonly name: string
  readonly kind: string
  readonly severity: 'warning' | 'critical'
  readonly threshold: number
  readonly quietMs: number
  readonly silencedUntilMs: number | null
  readonly lastNoticeAtMs: number | null
}

export interface Finding {
  readonly subject: string
  readonly value: number
}

export interface OpenIncident extends Incident {
  readonly id: number
  readonly subject: string
  readonly value: number
}

export interface IncidentChange {
  /** Null: a new incident. */
  readonly id: number | null
  readonly subject: string
  readonly state: 'pending' | 'firing' | 'resolved' | 'forgotten'
  readonly value: number
  readonly sinceMs: number
  readonly firedAtMs: number | null
  readonly clearSinceMs: number | null
  readonly noticedAtMs: number | null
}

/**
 * Evaluates one rule: how its findings change its incidents, and which notifications are sent. All new incidents of a rule are one notification of
 * each kind, and a rule that notified a moment ago waits: a hundred endpoints that fail together result in one notification.
 */
export function alertRound(
  rule: RoundRule,
  findings: readonly Finding[],
  open: readonly OpenIncident[],
  nowMs: number,
): { changes: IncidentChange[]; notices: Notice[] } {
  const maySpeak = rule.lastNoticeAtMs === null || nowMs - rule.lastNoticeAtMs >= rule.quietMs
  const changes: IncidentChange[] = []
  const told = new Map<NoticeKind, NoticeIncident[]>()
  const valueOf = new Map(findings.map(({ subject, value }) => [subject, value]))
  const openBySubject = new Map(open.map((incident) => [incident.subject, incident]))

  for (const subject of new Set([...openBySubject.keys(), ...valueOf.keys()])) {
    const known = openBySubject.get(subject)
    const isMet = valueOf.has(subject)
    const value = valueOf.get(subject) ?? known?.value ?? 0
    const before = known === undefined ? null : withSilence(known, rule.silencedUntilMs)
    const step = stepAlert(before, { isMet, nowMs, maySpeak: maySpeak && !isSilent(rule, nowMs) }, rule)
    const incident = step.incident ?? known ?? null
    if (incident === null) continue
    const state = step.incident === null ? (step.hasFired ? 'resolved' : 'forgotten') : step.incident.state
    const { sinceMs, firedAtMs, clearSinceMs, noticedAtMs } = incident
    changes.push({
      id: known?.id ?? null,
      subject,
      state,
      value,
      sinceMs,
      firedAtMs,
      clearSinceMs,
      noticedAtMs,
    })
    if (step.notice === null) continue
    const list = told.get(step.notice) ?? []
    told.set(step.notice, [...list, { subject, value, threshold: rule.threshold, sinceMs }])
  }
  const notices = [...told].map(([kind, incidents]) => ({
    kind,
    rule: rule.name,
    alertKind: rule.kind,
    severity: rule.severity,
    incidents,
  }))
  return { changes, notices }
}

function isSilent({ silencedUntilMs }: RoundRule, nowMs: number): boolean {
  return silencedUntilMs !== null && silencedUntilMs > nowMs
}

/** A silenced rule silences its incidents, so that one which ends meanwhile ends without a notification. */
function withSilence(incident: Incident, untilMs: number | null): Incident {
  if (untilMs === null) return incident
  return { ...incident, silencedUntilMs: Math.max(incident.silencedUntilMs ?? 0, untilMs) }
}
