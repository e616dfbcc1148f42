import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'
import type { EventBody } from './events.ts'

/** Events with their bodies, in the order of the ids given; the caller limits their number and size. Indexes: messages_pkey, messages_kept_pkey. */
export async function readEventBodies(database: Database, ids: readonly number[]): Promise<EventBody[]> {
  return database.query<EventBody>(
    {
      name: 'read_event_bodies',
      text: `
        select message.id, message.type as "eventType", message.tenant, message.correlation_id as "correlationId", message.criticality,
               message.is_unrouted as "isUnrouted", message.size, message.created_at as "createdAt", message.erased_at as "erasedAt",
               message.headers, message.metadata, message.body::text as body
        from unnest($1::bigint[]) with ordinality as asked (id, place)
        cross join lateral (
          select * from holdfast_internal.messages where id = asked.id
          union all select * from holdfast_internal.messages_kept where id = asked.id limit 1
        ) as message
        order by asked.place`,
    },
    [numberArray(ids)],
  )
}

const queryCanceled = '57014'

/** Which of these events match a filter, as evaluated when publishing; null if that takes longer than `timeoutMs`. Index: messages_pkey. */
export async function matchStored(
  database: Database,
  filter: string,
  ids: readonly number[],
  timeoutMs: number,
): Promise<readonly number[] | null> {
  return database
    .inTransaction(async (client) => {
      await client.query(`set local statement_timeout = ${timeoutMs}`)
      const { rows } = await client.query<{ id: number }>(
        `select message.id from unnest($1::bigint[]) as asked (id)
         cross join lateral (
           select id, body from holdfast_internal.messages where id = asked.id
           union all select id, body from holdfast_internal.messages_kept where id = asked.id limit 1
         ) as message
         where holdfast_internal.meets_filter(message.body, $2::text::jsonpath)`,
        [numberArray(ids), filter],
      )
      return rows.map(({ id }) => id)
    })
    .catch((error: unknown) => {
      if ((error as { code?: unknown }).code === queryCanceled) return null
      throw error
    })
}

export interface RecentType {
  readonly type: string
  readonly count: number
  readonly lastSeenAt: Date
}

/** Counts the latest events by type, among the newest `maxMessages`; `since`: the time of the oldest of them. Index: messages_pkey. */
export async function countRecentTypes(
  database: Database,
  maxMessages: number,
): Promise<{ readonly types: readonly RecentType[]; readonly scanned: number; readonly since: Date | null }> {
  const rows = await database.query<{
    types: readonly { type: string; count: number; lastSeenAt: string }[] | null
    scanned: number
    since: Date | null
  }>(
    {
      name: 'count_recent_types',
      text: `select types, scanned, since from holdfast_internal.recent_types($1)`,
    },
    [maxMessages],
  )
  const { types, scanned = 0, since = null } = rows[0] ?? {}
  return {
    types: (types ?? []).map((one) => ({ ...one, lastSeenAt: new Date(one.lastSeenAt) })),
    scanned,
    since,
  }
}
