import { statfs } from 'node:fs/promises'
import type { PoolClient } from 'pg'
import { type Notice, type NoticeTexts, renderNotice } from '../../core/alerts/alert-notice.ts'
import {
  alertRound,
  type Finding,
  type IncidentChange,
  type OpenIncident,
} from '../../core/alerts/alert-round.ts'
import { type AlertChannelRecord, listAlertChannels, sendNotice } from '../../storage/alert-channels.ts'
import { type AlertRuleRecord, listAlertRules, readFindings } from '../../storage/alert-rules.ts'
import {
  type AlertChange,
  type AlertRecord,
  followNotices,
  noteSpoken,
  readOpenAlerts,
  writeAlerts,
} from '../../storage/alerts.ts'
import type { MaintenanceContext, MaintenanceTask } from '../upkeep/upkeep-task.ts'
import { logNotice } from './log-notice.ts'

export interface AlertsTaskOptions {
  /** URL of the runbook; its sections are named after the kinds of alerts. */
  readonly runbookUrl: string
  /** A folder on the database's disk, if this process can see it: the embedded server's. */
  readonly diskPath: string | null
  readonly everyMs?: number
}

/** A notification that is not delivered after this time is also logged. */
const patienceMs = 60_000
const defaultEveryMs = 15_000

interface Round {
  readonly rule: AlertRuleRecord
  readonly changes: readonly IncidentChange[]
  readonly notices: readonly Notice[]
}

/**
 * Evaluates every rule, updates its incidents, and sends the notifications to the channels' endpoints, all in one transaction: an
 * incident is marked as notified exactly if its notification was stored.
 */
export function alertsTask(options: AlertsTaskOptions): MaintenanceTask {
  return {
    name: 'alerts',
    schedule: { everyMs: options.everyMs ?? defaultEveryMs },
    run: async (context) => {
      const { database, logger, nowMs } = context
      const [rules, open, channels] = await Promise.all([
        listAlertRules(database),
        readOpenAlerts(database),
        listAlertChannels(database),
      ])
      const rounds: Round[] = []
      let broken = 0
      const evaluated = rules.filter(({ enabled }) => enabled)
      // All rules in one statement: one statement per rule was a tenth of what an idle node sends. If it fails, each rule is read separately.
      const known = await readFindings(database, evaluated).catch(() => null)
      for (const [index, rule] of evaluated.entries()) {
        const findings = await tryFindings(rule, known?.[index], options, context)
        if (findings === null) broken += 1
        else rounds.push({ rule, ...alertRound(toRoundRule(rule), findings, incidentsOf(rule, open), nowMs) })
      }
      const orphans = open.filter((alert) => !rules.some((rule) => rule.enabled && rule.name === alert.rule))
      const notices = rounds.flatMap((round) => round.notices)
      const logged = await context.fenced(async (client) => {
        await writeAlerts(client, [...rounds.flatMap(changesOf), ...orphans.map(ended)])
        if (notices.length > 0) await noteSpoken(client, [...new Set(notices.map(({ rule }) => rule))])
        return tell(client, rounds, channels, options.runbookUrl)
      })
      for (const { notice, texts, why } of logged) logNotice(logger, notice, texts, why)
      const stuck = await context.fenced((client) => followNotices(client, patienceMs))
      for (const { channel, title, text, error } of stuck) {
        logger.error({ channel, alert: text, error }, `An alert could not be delivered: ${title}`)
      }
      return { rules: rounds.length, broken, notices: notices.length, fallbacks: stuck.length }
    },
  }
}

/** Null if the rule could not be evaluated: its incidents stay as they are, and the other rules are evaluated. */
async function tryFindings(
  rule: AlertRuleRecord,
  known: Finding[] | undefined,
  options: AlertsTaskOptions,
  { database, logger }: MaintenanceContext,
): Promise<Finding[] | null> {
  try {
    const findings = known ?? (await readFindings(database, [rule])).flat()
    if (rule.kind !== 'disk_low' || options.diskPath === null) return findings
    return [...findings, ...(await diskFindings(options.diskPath, rule.threshold))]
  } catch (error) {
    logger.error({ rule: rule.name, error: String(error) }, 'An alert rule could not be evaluated')
    return null
  }
}

async function diskFindings(path: string, threshold: number): Promise<Finding[]> {
  const { bavail, blocks } = await statfs(path)
  const freeShare = bavail / blocks
  return freeShare < threshold ? [{ subject: 'data directory', value: freeShare }] : []
}

interface LoggedNotice {
  readonly notice: Notice
  readonly texts: NoticeTexts
  /** Why the notification is logged: the log is a channel, or another channel failed. */
  readonly why: string | null
}

/** Stores the notifications; returns those to log after the commit. */
async function tell(
  client: PoolClient,
  rounds: readonly Round[],
  channels: readonly AlertChannelRecord[],
  runbookUrl: string,
): Promise<LoggedNotice[]> {
  const logged: LoggedNotice[] = []
  for (const { rule, notices } of rounds) {
    const targets = channels.filter(({ name, enabled }) => enabled && (rule.channels?.includes(name) ?? true))
    for (const notice of notices) {
      const texts = renderNotice(notice, runbookUrl)
      for (const { name, kind } of targets) {
        if (kind === 'log') {
          logged.push({ notice, texts, why: null })
          continue
        }
        const { title, text, payloads } = texts
        const message = await sendNotice(client, { channel: name, title, text, payload: payloads[kind] })
        if (message === null)
          logged.push({ notice, texts, why: `the channel ${name} did not accept the notification` })
      }
    }
  }
  return logged
}

function toRoundRule(rule: AlertRuleRecord) {
  return {
    ...rule,
    silencedUntilMs: rule.silencedUntil?.getTime() ?? null,
    lastNoticeAtMs: rule.lastNoticeAt?.getTime() ?? null,
  }
}

function incidentsOf(rule: AlertRuleRecord, open: readonly AlertRecord[]): OpenIncident[] {
  return open
    .filter((alert) => alert.rule === rule.name)
    .map((alert) => ({
      id: alert.id,
      subject: alert.subject,
      value: alert.value,
      state: alert.state === 'pending' ? 'pending' : 'firing',
      sinceMs: alert.since.getTime(),
      firedAtMs: alert.firedAt?.getTime() ?? null,
      clearSinceMs: alert.clearSince?.getTime() ?? null,
      noticedAtMs: alert.noticedAt?.getTime() ?? null,
      isAcknowledged: alert.acknowledgedAt !== null,
      silencedUntilMs: alert.silencedUntil?.getTime() ?? null,
    }))
}

function changesOf({ rule, changes }: Round): AlertChange[] {
  const { name, kind, severity, threshold } = rule
  return changes.map((change) => ({ ...change, rule: name, kind, severity, threshold }))
}

/** The alert's rule was deleted or disabled: the incident ends without a notification. */
function ended(alert: AlertRecord): AlertChange {
  return {
    ...alert,
    state: alert.state === 'pending' ? 'forgotten' : 'resolved',
    sinceMs: alert.since.getTime(),
    firedAtMs: alert.firedAt?.getTime() ?? null,
    clearSinceMs: alert.clearSince?.getTime() ?? null,
    noticedAtMs: alert.noticedAt?.getTime() ?? null,
  }
}
