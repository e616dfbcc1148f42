import type { ClientBase } from 'pg'
import type { Database } from './database.ts'
import type { Queryable } from './queryable.ts'

/** A message that could not become an event, to be stored. */
export interface NewReject {
  readonly messageId: string | null
  readonly correlationId: string | null
  readonly code: string
  readonly error: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

export interface RejectSummary {
  readonly id: number
  readonly source: string
  readonly receivedAt: Date
  readonly messageId: string | null
  readonly code: string
  readonly error: string
  readonly size: number
  readonly tries: number
  readonly lastTriedAt: Date | null
}

export interface RejectRecord extends RejectSummary {
  readonly correlationId: string | null
  /** As JSON text. */
  readonly fields: string
  /** The beginning of the body. */
  readonly body: Buffer
}

const summary = `reject.id, source.name as source, reject.received_at as "receivedAt", reject.message_id as "messageId", reject.code, reject.error,
  octet_length(reject.body) as size, reject.tries, reject.last_tried_at as "lastTriedAt"`
/** Called in the transaction that publishes the other messages of the batch. */
export async function insertRejects(
  queryable: Queryable,
  sourceId: number,
  rejects: readonly NewReject[],
): Promise<void> {
  await queryable.query({
    text: `
      insert into holdfast_internal.source_rejects (source_id, message_id, correlation_id, code, error, fields, body)
      select $1, message_id, correlation_id, code, error, fields::json, body
      from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[])
        with ordinality as given (message_id, correlation_id, code, error, fields, body, place)
      order by place`,
    values: [
      sourceId,
      rejects.map(({ messageId }) => storable(messageId)),
      rejects.map(({ correlationId }) => storable(correlationId)),
      rejects.map(({ code }) => code),
      rejects.map(({ error }) => storable(error) ?? ''),
      rejects.map(({ fields }) => JSON.stringify(fields)),
      rejects.map(({ body }) => body),
    ],
    rowMode: 'array',
  })
}

/** Removes characters that PostgreSQL's text type can't store. */
function storable(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\uFFFD')
}

/** The newest first. Indexes: source_rejects_pkey, or source_rejects_source for one source, backwards. */
export async function listRejects(
  database: Database,
  source: string | null,
  beforeId: number | null,
  maxRows: number,
): Promise<RejectSummary[]> {
  const condition =
    source === null
      ? 'true'
      : 'reject.source_id = (select id from holdfast_internal.event_sources where name = $3)'
  return database.query<RejectSummary>(
    {
      name: source === null ? 'list_rejects' : 'list_rejects_of_source',
      text: `
        select ${summary} from (
          select * from holdfast_internal.source_rejects as reject
          where ${condition} and reject.id < coalesce($1::bigint, 9223372036854775807)
          order by ${source === null ? '' : 'reject.source_id desc, '}reject.id desc limit $2
        ) as reject join holdfast_internal.event_sources as source on source.id = reject.source_id
        order by reject.id desc`,
    },
    source === null ? [beforeId, maxRows] : [beforeId, maxRows, source],
  )
}

/**
 * Reads a reject with this many bytes of its body; `isLocked`: no other session can retry or discard it
 * until the transaction ends. Index: source_rejects_pkey.
 */
export async function readReject(
  database: Database,
  id: number,
  maxBytes: number,
  isLocked = false,
): Promise<RejectRecord | undefined> {
  const rows = await database.query<RejectRecord>(
    {
      name: isLocked ? 'lock_reject' : 'read_reject',
      text: `
        select ${summary}, reject.correlation_id as "correlationId", reject.fields::text as fields, substring(reject.body from 1 for $2) as body
        from (select * from holdfast_internal.source_rejects where id = $1 offset 0 ${isLocked ? 'for update' : ''}) as reject
        join holdfast_internal.event_sources as source on source.id = reject.source_id`,
    },
    [id, maxBytes],
  )
  return rows[0]
}

/** The oldest rejects of a source, after `afterId` and up to `lastId`. Index: source_rejects_source. */
export async function readRejectIds(
  database: Database,
  source: string,
  afterId: number,
  maxRows: number,
): Promise<number[]> {
  const rows = await database.query<{ id: number }>(
    {
      name: 'read_reject_ids',
      text: `
        select id from holdfast_internal.source_rejects
        where source_id = (select id from holdfast_internal.event_sources where name = $1) and id > $2 order by source_id, id limit $3`,
    },
    [source, afterId, maxRows],
  )
  return rows.map(({ id }) => id)
}

/** Returns how many were deleted. Index: source_rejects_pkey. */
export async function deleteRejects(database: Database, ids: readonly number[]): Promise<number> {
  const rows = await database.query(
    {
      name: 'delete_rejects',
      text: 'delete from holdfast_internal.source_rejects where id = any ($1::bigint[]) returning id',
    },
    [ids],
  )
  return rows.length
}

/** Records why a retry failed. Index: source_rejects_pkey. */
export async function noteRejectTried(
  database: Database,
  id: number,
  code: string,
  error: string,
): Promise<void> {
  await database.query(
    {
      name: 'note_reject_tried',
      text: `
        update holdfast_internal.source_rejects set code = $2, error = $3, tries = tries + 1, last_tried_at = clock_timestamp() where id = $1`,
    },
    [id, code, storable(error)],
  )
}

/** Keeps rejects for `source_reject_retention_days` (a setting). Index: source_rejects_pkey. */
export async function purgeRejects(client: Pick<ClientBase, 'query'>, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ purged: number }>(
    'select holdfast_internal.purge_source_rejects($1) as purged',
    [maxRows],
  )
  return rows[0]?.purged ?? 0
}
