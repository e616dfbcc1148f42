import type { AlertRuleSettings } from '../core/alerts/alert-rule-input.ts'
import type { Database } from './database.ts'

/** A stored rule. `kind` is unchecked: a newer version may have written it. */
export interface AlertRuleRecord extends Omit<AlertRuleSettings, 'kind'> {
  readonly kind: string
  readonly silencedUntil: Date | null
  readonly lastNoticeAt: Date | null
  readonly updatedAt: Date
}

const columns = `name, kind, severity, threshold, hold_ms as "holdMs", remind_ms as "remindMs", clear_ms as "clearMs",
  quiet_ms as "quietMs", endpoint, tag, channels, is_enabled as enabled, silenced_until as "silencedUntil",
  last_notice_at as "lastNoticeAt", updated_at as "updatedAt"`

const maxRules = 1000

/** All rules, by name. Index: alert_rules_pkey. */
export async function listAlertRules(database: Database): Promise<AlertRuleRecord[]> {
  return database.query<AlertRuleRecord>(
    {
      name: 'list_alert_rules',
      text: `select ${columns} from holdfast_internal.alert_rules order by name limit ${maxRules}`,
    },
    [],
  )
}

/** Creates or replaces a rule. Index: alert_rules_pkey. */
export async function writeAlertRule(
  database: Database,
  rule: AlertRuleSettings,
  actor: string,
): Promise<AlertRuleRecord> {
  const rows = await database.query<AlertRuleRecord>(
    {
      name: 'write_alert_rule',
      text: `
        with written as (
          insert into holdfast_internal.alert_rules (name, kind, severity, threshold, hold_ms, remind_ms, clear_ms, quiet_ms, endpoint, tag,
                                            channels, is_enabled)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
          on conflict (name) do update set kind = excluded.kind, severity = excluded.severity, threshold = excluded.threshold,
            hold_ms = excluded.hold_ms, remind_ms = excluded.remind_ms, clear_ms = excluded.clear_ms, quiet_ms = excluded.quiet_ms,
            endpoint = excluded.endpoint, tag = excluded.tag, channels = excluded.channels, is_enabled = excluded.is_enabled,
            updated_at = clock_timestamp()
          returning *
        ), noted as (select holdfast_internal.audit($13, 'alert_rule.written', 'alert-rule:' || name) from written)
        select ${columns} from written, noted`,
    },
    [
      rule.name,
      rule.kind,
      rule.severity,
      rule.threshold,
      rule.holdMs,
      rule.remindMs,
      rule.clearMs,
      rule.quietMs,
      rule.endpoint,
      rule.tag,
      rule.channels,
      rule.enabled,
      actor,
    ],
  )
  const row = rows[0]
  if (row === undefined) throw new Error('write_alert_rule returned no row')
  return row
}

/** Returns false if there was no such rule. Index: alert_rules_pkey. */
export async function deleteAlertRule(database: Database, name: string, actor: string): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'delete_alert_rule',
      text: `
        with deleted as (delete from holdfast_internal.alert_rules where name = $1 returning name)
        select holdfast_internal.audit($2, 'alert_rule.deleted', 'alert-rule:' || name) from deleted`,
    },
    [name, actor],
  )
  return rows.length > 0
}

/** Silences an alert rule until the given time; null ends the silence. Returns false if there is no such rule. Index: alert_rules_pkey. */
export async function silenceAlertRule(
  database: Database,
  name: string,
  until: Date | null,
  actor: string,
): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'silence_alert_rule',
      text: `
        with silenced as (update holdfast_internal.alert_rules set silenced_until = $2 where name = $1 returning name)
        select holdfast_internal.audit($3, 'alert_rule.silenced', 'alert-rule:' || name, jsonb_build_object('until', $2::timestamptz)) from silenced`,
    },
    [name, until, actor],
  )
  return rows.length > 0
}

/** The findings of each rule above its threshold, in the order of the rules. The indexes are named in the function. */
export async function readFindings(
  database: Database,
  rules: readonly Pick<AlertRuleRecord, 'kind' | 'threshold' | 'endpoint' | 'tag'>[],
): Promise<{ subject: string; value: number }[][]> {
  const rows = await database.query<{ rule: number; subject: string; value: number }>(
    {
      name: 'read_alert_findings_of_rules',
      text: `
        select given.position::integer as rule, found.subject, found.value
        from unnest($1::text[], $2::double precision[], $3::text[], $4::text[]) with ordinality as given (kind, threshold, endpoint, tag, position)
        cross join lateral (
          select subject, value from holdfast_internal.alert_findings(given.kind, given.threshold, given.endpoint, given.tag)
          order by subject limit 1000
        ) as found`,
    },
    [
      rules.map(({ kind }) => kind),
      rules.map(({ threshold }) => threshold),
      rules.map(({ endpoint }) => endpoint),
      rules.map(({ tag }) => tag),
    ],
  )
  const findings = rules.map((): { subject: string; value: number }[] => [])
  for (const { rule, subject, value } of rows) findings[rule - 1]?.push({ subject, value })
  return findings
}
