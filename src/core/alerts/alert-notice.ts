import { alertKinds, isAlertKind, runbookAnchor } from './alert-kinds.ts'
import type { NoticeKind } from './alert-state.ts'

export interface NoticeIncident {
  readonly subject: string
  readonly value: number
  readonly threshold: number
  readonly sinceMs: number
}

/** One notification about one rule. */
export interface Notice {
  readonly kind: NoticeKind
  readonly rule: string
  readonly alertKind: string
  readonly severity: 'warning' | 'critical'
  readonly incidents: readonly NoticeIncident[]
}

/** A notification as each channel shows it. */
export interface NoticeTexts {
  readonly title: string
  readonly text: string
  readonly payloads: {
    readonly webhook: object
    readonly slack: object
    readonly email: { readonly subject: string; readonly text: string }
  }
}

/** Maximum of subjects in one notification: a hundred endpoints behind one broken proxy result in one notification that names the first ones. */
const maxNamed = 20

const marks = { firing: 'FIRING', reminder: 'STILL FIRING', resolved: 'RESOLVED' } as const

export function renderNotice(notice: Notice, runbookUrl: string): NoticeTexts {
  const { kind, rule, alertKind, severity, incidents } = notice
  const named = incidents.slice(0, maxNamed)
  const lines = named.map((incident) => describeIncident(alertKind, incident))
  const unnamed = incidents.length - named.length
  if (unnamed > 0) lines.push(`… and ${unnamed} more`)
  const runbook = `${runbookUrl}#${runbookAnchor(alertKind)}`
  const summary = incidents.length === 1 ? (lines[0] ?? rule) : `${incidents.length} times ${rule}`
  const title = `[${marks[kind]}] ${severity}: ${summary}`
  const listed = lines.map((line) => `- ${line}`).join('\n')
  const since = new Date(Math.min(...incidents.map(({ sinceMs }) => sinceMs))).toISOString()
  const text = `${title}\n\n${listed}\n\nsince ${since}\nrule: ${rule}\nwhat to do: ${runbook}`
  return {
    title,
    text,
    payloads: {
      webhook: {
        type: `alert.${kind}`,
        rule,
        kind: alertKind,
        severity,
        title,
        total: incidents.length,
        incidents: named.map((incident) => ({
          subject: incident.subject,
          value: incident.value,
          threshold: incident.threshold,
          since: new Date(incident.sinceMs).toISOString(),
        })),
        runbook,
      },
      slack: {
        text: `*${escapeSlack(title)}*\n${escapeSlack(lines.join('\n'))}\nsince ${since} · <${runbook}|what to do>`,
      },
      email: { subject: oneLine(`Holdfast ${title}`), text },
    },
  }
}

function describeIncident(kind: string, { subject, value, threshold }: NoticeIncident): string {
  return isAlertKind(kind) ? alertKinds[kind].describe(subject, value, threshold) : `${kind}: ${subject}`
}

/** The three characters that Slack requires to be escaped. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
