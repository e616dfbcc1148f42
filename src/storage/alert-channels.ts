import type { ClientBase } from 'pg'
import type { Database } from './database.ts'

export interface AlertChannelRecord {
  readonly name: string
  readonly kind: 'webhook' | 'slack' | 'email' | 'log'
  /** The endpoint that receives its notifications; the log has none. */
  readonly endpoint: string | null
  readonly enabled: boolean
  readonly createdAt: Date
}

const columns = `name, kind, endpoint, is_enabled as enabled, created_at as "createdAt"`

/** All channels, by name. Index: alert_channels_pkey. */
export async function listAlertChannels(database: Database): Promise<AlertChannelRecord[]> {
  return database.query<AlertChannelRecord>(
    {
      name: 'list_alert_channels',
      text: `select ${columns} from holdfast_internal.alert_channels order by name limit 1000`,
    },
    [],
  )
}

/** Returns undefined if a channel of this name exists. Index: alert_channels_pkey. */
export async function insertAlertChannel(
  database: Database,
  channel: Pick<AlertChannelRecord, 'name' | 'kind' | 'endpoint'>,
  actor: string,
): Promise<AlertChannelRecord | undefined> {
  const rows = await database.query<AlertChannelRecord>(
    {
      name: 'insert_alert_channel',
      text: `
        with written as (
          insert into holdfast_internal.alert_channels (name, kind, endpoint) values ($1, $2, $3) on conflict do nothing returning *
        ), noted as (select holdfast_internal.audit($4, 'alert_channel.created', 'alert-channel:' || name) from written)
        select ${columns} from written, noted`,
    },
    [channel.name, channel.kind, channel.endpoint, actor],
  )
  return rows[0]
}

/** Returns undefined if there is no such channel. Index: alert_channels_pkey. */
export async function setAlertChannelEnabled(
  database: Database,
  name: string,
  isEnabled: boolean,
  actor: string,
): Promise<AlertChannelRecord | undefined> {
  const rows = await database.query<AlertChannelRecord>(
    {
      name: 'set_alert_channel_enabled',
      text: `
        with written as (update holdfast_internal.alert_channels set is_enabled = $2 where name = $1 returning *), noted as (
          select holdfast_internal.audit($3, 'alert_channel.' || case when $2 then 'enabled' else 'disabled' end, 'alert-channel:' || name)
          from written
        )
        select ${columns} from written, noted`,
    },
    [name, isEnabled, actor],
  )
  return rows[0]
}

/** Returns the deleted channel; undefined if there was none. Index: alert_channels_pkey. */
export async function deleteAlertChannel(
  database: Database,
  name: string,
  actor: string,
): Promise<AlertChannelRecord | undefined> {
  const rows = await database.query<AlertChannelRecord>(
    {
      name: 'delete_alert_channel',
      text: `
        with deleted as (delete from holdfast_internal.alert_channels where name = $1 returning *),
          noted as (select holdfast_internal.audit($2, 'alert_channel.deleted', 'alert-channel:' || name) from deleted)
        select ${columns} from deleted, noted`,
    },
    [name, actor],
  )
  return rows[0]
}

/** Stores a notification as a message; returns null if it could not be stored. */
export async function sendNotice(
  client: Pick<ClientBase, 'query'>,
  notice: { channel: string; title: string; text: string; payload: object },
): Promise<number | null> {
  const { rows } = await client.query<{ message: number | null }>(
    'select holdfast_internal.send_notice($1, $2, $3, $4) as message',
    [notice.channel, notice.title, notice.text, JSON.stringify(notice.payload)],
  )
  return rows[0]?.message ?? null
}
