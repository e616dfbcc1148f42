import type { ClientBase } from 'pg'
import type { Database } from './database.ts'

export interface AlertRecord {
  readonly id: number
  readonly rule: string
  readonly kind: string
  readonly severity: 'warning' | 'critical'
  readonly subject: string
  readonly state: 'pending' | 'firing' | 'resolved'
  readonly value: number
  readonly threshold: number
  readonly since: Date
  readonly firedAt: Date | null
  readonly clearSince: Date | null
  readonly noticedAt: Date | null
  readonly resolvedAt: Date | null
  readonly acknowledgedAt: Date | null
  readonly acknowledgedBy: string | null
  readonly note: string | null
  readonly silencedUntil: Date | null
}

/** A change of an incident. `id` null: a new one. Field names are those that `holdfast_internal.alert_changes` reads. */
export interface AlertChange {
  readonly id: number | null
  readonly rule: string
  readonly kind: string
  readonly severity: 'warning' | 'critical'
  readonly subject: string
  readonly state: 'pending' | 'firing' | 'resolved' | 'forgotten'
  readonly value: number
  readonly threshold: number
  readonly sinceMs: number
  readonly firedAtMs: number | null
  readonly clearSinceMs: number | null
  readonly noticedAtMs: number | null
}

const columns = `id, rule, kind, severity, subject, state, value, threshold, since, fired_at as "firedAt", clear_since as "clearSince",
  noticed_at as "noticedAt", resolved_at as "resolvedAt", acknowledged_at as "acknowledgedAt", acknowledged_by as "acknowledgedBy", note,
  silenced_until as "silencedUntil"`

/** Open incidents. Index: alerts_open. */
export async function readOpenAlerts(database: Database): Promise<AlertRecord[]> {
  return database.query<AlertRecord>(
    {
      name: 'read_open_alerts',
      text: `select ${columns} from holdfast_internal.open_alerts(100000) order by rule, subject`,
    },
    [],
  )
}

/** Incidents with ids below the given one, newest first. Index: alerts_state. */
export async function listAlerts(
  database: Database,
  states: readonly string[],
  beforeId: number,
  limit: number,
): Promise<AlertRecord[]> {
  return database.query<AlertRecord>(
    {
      name: 'list_alerts',
      text: `
        select ${columns} from unnest($1::text[]) as wanted (wanted_state) cross join lateral (
          select * from holdfast_internal.alerts as one where (one.state, one.id) < (wanted_state, $2) and (one.state, one.id) >= (wanted_state, 0)
          order by one.state desc, one.id desc limit $3
        ) as alert
        order by id desc limit $3`,
    },
    [states, beforeId, limit],
  )
}

/** Index: alerts_pkey. */
export async function writeAlerts(
  client: Pick<ClientBase, 'query'>,
  changes: readonly AlertChange[],
): Promise<void> {
  await client.query('select holdfast_internal.write_alerts($1)', [JSON.stringify(changes)])
}

/** Marks these rules as having notified now. Index: alert_rules_pkey. */
export async function noteSpoken(client: Pick<ClientBase, 'query'>, rules: readonly string[]): Promise<void> {
  await client.query(
    'update holdfast_internal.alert_rules set last_notice_at = clock_timestamp() where name = any ($1::text[])',
    [rules],
  )
}

/** Returns false if there is no such open alert. Index: alerts_pkey. */
export async function acknowledgeAlert(
  database: Database,
  id: number,
  actor: string,
  note: string | null,
): Promise<boolean> {
  const rows = await database.query<{ is_done: boolean }>(
    { name: 'acknowledge_alert', text: 'select holdfast_internal.acknowledge_alert($1, $2, $3) as is_done' },
    [id, actor, note],
  )
  return rows[0]?.is_done ?? false
}

/** Returns false if there is no such open alert. Index: alerts_pkey. */
export async function withdrawAcknowledgement(
  database: Database,
  id: number,
  actor: string,
): Promise<boolean> {
  const rows = await database.query<{ is_done: boolean }>(
    {
      name: 'withdraw_acknowledgement',
      text: 'select holdfast_internal.withdraw_acknowledgement($1, $2) as is_done',
    },
    [id, actor],
  )
  return rows[0]?.is_done ?? false
}

/** Returns false if there is no such open alert. Index: alerts_pkey. */
export async function silenceAlert(
  database: Database,
  id: number,
  until: Date | null,
  actor: string,
  note: string | null,
): Promise<boolean> {
  const rows = await database.query<{ is_done: boolean }>(
    { name: 'silence_alert', text: 'select holdfast_internal.silence_alert($1, $2, $3, $4) as is_done' },
    [id, until, actor, note],
  )
  return rows[0]?.is_done ?? false
}

export interface StuckNotice {
  readonly channel: string
  readonly title: string
  readonly text: string
  readonly error: string
}

/** Notifications that their endpoint hasn't accepted in time; each is returned once. Indexes are named in the function. */
export async function followNotices(
  client: Pick<ClientBase, 'query'>,
  patienceMs: number,
): Promise<StuckNotice[]> {
  const { rows } = await client.query<StuckNotice>('select * from holdfast_internal.follow_notices($1)', [
    patienceMs,
  ])
  return rows
}

/** Index: alerts_resolved. */
export async function purgeAlerts(
  client: Pick<ClientBase, 'query'>,
  keepDays: number,
  maxRows: number,
): Promise<number> {
  const { rows } = await client.query<{ purged: number }>(
    'select holdfast_internal.purge_alerts($1, $2) as purged',
    [keepDays, maxRows],
  )
  return rows[0]?.purged ?? 0
}
