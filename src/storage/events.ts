import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

/** A message in a list, without its body. */
export interface EventRecord {
  readonly id: number
  readonly eventType: string | null
  readonly tenant: string | null
  readonly correlationId: string | null
  readonly orderingKey: string | null
  readonly criticality: number
  readonly isUnrouted: boolean
  readonly size: number
  readonly createdAt: Date
  readonly erasedAt: Date | null
}

const columns = `message.id, message.type as "eventType", message.tenant,
  coalesce(message.correlation_id, case when message.is_run then holdfast.format_id('msg', message.id) end) as "correlationId",
  message.ordering_key as "orderingKey", message.criticality,
  message.is_unrouted as "isUnrouted", message.size, message.created_at as "createdAt", message.erased_at as "erasedAt"`

/** In the order of the ids given. Indexes: messages_pkey of one partition each, messages_kept_pkey. */
export async function readEventRecords(database: Database, ids: readonly number[]): Promise<EventRecord[]> {
  return database.query<EventRecord>(
    {
      name: 'read_event_records',
      text: `
        select ${columns} from unnest($1::bigint[]) with ordinality as asked (id, place)
        cross join lateral (
          select * from holdfast_internal.messages where id = asked.id
          union all select * from holdfast_internal.messages_kept where id = asked.id limit 1
        ) as message
        order by asked.place`,
    },
    [numberArray(ids)],
  )
}

export interface PayloadSearch {
  readonly filter: object
  readonly path: readonly string[] | null
  readonly equals: string | null
  readonly text: string | null
}

/** Limits of one step: this many events or this long, whichever comes first. */
const maxSearchedEvents = 20_000
const maxSearchMs = 60

/** One step of a search in payloads. Indexes: see holdfast_internal.search_events. */
export async function searchEvents(
  database: Database,
  { filter, path, equals, text }: PayloadSearch,
  before: number,
  maxRows: number,
): Promise<{ ids: readonly number[]; scanned: number; scannedTo: number | null }> {
  const rows = await database.query<{ ids: readonly number[]; scanned: number; scannedTo: number | null }>(
    {
      name: 'search_events',
      text: `
        select ids, scanned, scanned_to as "scannedTo"
        from holdfast_internal.search_events($1, $2::text[], $3, $4, $5, $6, ${maxSearchedEvents}, ${maxSearchMs})`,
    },
    [JSON.stringify(filter), path, equals, text, before, maxRows],
  )
  return rows[0] ?? { ids: [], scanned: 0, scannedTo: null }
}

export interface EventBody extends EventRecord {
  readonly headers: Record<string, string> | null
  readonly metadata: Record<string, unknown> | null
  /** The payload's JSON, unchanged. */
  readonly body: string
}

/**
 * Returns undefined if the message is no longer stored; a replay's id finds its original. Indexes: replays_ids, messages_pkey, messages_kept_pkey.
 */
export async function readEventBody(database: Database, id: number): Promise<EventBody | undefined> {
  const rows = await database.query<EventBody>(
    {
      name: 'read_event_body',
      text: `
        select ${columns}, message.headers, message.metadata, message.body::text as body from (
          with wanted as materialized (select holdfast_internal.original_message($1) as id)
          select * from holdfast_internal.messages where id = (select id from wanted)
          union all select * from holdfast_internal.messages_kept where id = (select id from wanted) limit 1
        ) as message`,
    },
    [id],
  )
  return rows[0]
}

export interface ErasureRow {
  readonly id: string
  readonly cancelled: number
  readonly deadLetters: number
}

/** Indexes: messages_pkey, messages_kept_pkey, deliveries_message, attempts_message, dead_letters_message; scans a day's stored API results. */
export async function eraseMessage(
  database: Database,
  id: string,
  reason: string,
  force: boolean,
  actor: string,
): Promise<ErasureRow> {
  const rows = await database.query<{ erased: ErasureRow }>(
    { name: 'erase_message', text: 'select holdfast.erase_message($1, $2, $3, $4) as erased' },
    [id, reason, force, actor],
  )
  const [row] = rows
  if (row === undefined) throw new Error('erase_message returned nothing')
  return row.erased
}
