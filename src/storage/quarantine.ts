import type { ClientBase } from 'pg'
import type { Database } from './database.ts'

/** A result that PostgreSQL rejected. */
export interface QuarantinedResult {
  readonly id: number
  readonly at: Date
  readonly deliveryId: string
  readonly endpoint: string | null
  readonly queue: string | null
  readonly error: string
  readonly lastError: string | null
  readonly tries: number
  readonly nextTryAt: Date
  /** The result as reported by the node or worker. */
  readonly result: object
}

/** The newest first. Index: quarantine_pkey, backwards. */
export async function listQuarantine(
  database: Database,
  beforeId: number | null,
  maxRows: number,
): Promise<QuarantinedResult[]> {
  return database.query<QuarantinedResult>(
    {
      name: 'list_quarantine',
      text: `
        select kept.id, kept.at,
               holdfast.format_id(case when queue.id is null then 'dlv' else 'run' end, kept.delivery_id) as "deliveryId",
               endpoint.name as endpoint, queue.name as queue, kept.error, kept.last_error as "lastError", kept.tries,
               kept.next_try_at as "nextTryAt", (kept.record ->> 'record')::jsonb as result
        from holdfast_internal.quarantine as kept
        left join holdfast_internal.endpoints as endpoint on endpoint.id = kept.lane_id
        left join holdfast_internal.queues as queue on queue.id = kept.lane_id
        where $1::bigint is null or kept.id < $1
        order by kept.id desc limit $2`,
    },
    [beforeId, maxRows],
  )
}

/** Counts results up to this many. */
export async function countQuarantine(database: Database, maxCount: number): Promise<number> {
  const rows = await database.query<{ count: number }>(
    {
      name: 'count_quarantine',
      text: 'select count(*)::integer as count from (select from holdfast_internal.quarantine limit $1) as kept',
    },
    [maxCount],
  )
  return rows[0]?.count ?? 0
}

/** Retries the results that are due. Index: quarantine_due. */
export async function retryQuarantine(client: ClientBase, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ settled: number }>(
    'select holdfast_internal.retry_quarantined($1) as settled',
    [maxRows],
  )
  return rows[0]?.settled ?? 0
}

/** Retries one result now. Returns null if no result has this id; otherwise whether it could be stored. */
export async function retryQuarantined(
  database: Database,
  id: number,
  actor: string,
): Promise<boolean | null> {
  const rows = await database.query<{ isKnown: boolean; settled: number }>(
    {
      name: 'retry_quarantined',
      text: `
        select known.is_known as "isKnown",
               case when known.is_known then holdfast_internal.retry_quarantined(1, $1) else 0 end as settled,
               case when known.is_known then holdfast_internal.audit($2, 'quarantine.retried', 'quarantine:' || $1) end
        from (select exists (select from holdfast_internal.quarantine where id = $1) as is_known) as known`,
    },
    [id, actor],
  )
  return rows[0]?.isKnown === true ? rows[0].settled > 0 : null
}

/** Drops the result; its delivery, if still pending, is sent again. Returns false if no result has this id. */
export async function releaseQuarantined(database: Database, id: number, actor: string): Promise<boolean> {
  const rows = await database.query<{ isReleased: boolean }>(
    {
      name: 'release_quarantined',
      text: `
        select released.is_released as "isReleased",
               case when released.is_released then holdfast_internal.audit($2, 'quarantine.released', 'quarantine:' || $1) end
        from (select holdfast_internal.release_quarantined($1) as is_released) as released`,
    },
    [id, actor],
  )
  return rows[0]?.isReleased ?? false
}
