import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

/** A delivery as the lanes need it; its body is read apart. Columns in the order of `columns` below. */
export type DeliveryRow = readonly [
  id: number,
  messageId: number,
  laneId: number,
  routeId: number | null,
  attempt: number,
  uncounted: number,
  size: number,
  priority: number,
  criticality: number,
  dueAtMs: number | null,
  expiresAtMs: number | null,
  owedAtMs: number | null,
  orderingKey: string | null,
  /** Nothing older of its ordering key is owed, and no dead letter blocks the key. */
  isHead: boolean,
  variant: number,
]

/**
 * The ranges below compare whole rows of index columns and order by all of them. So nothing but the named index can serve them:
 * with plain equalities the planner may walk the primary key in id order instead, through every other lane's backlog, as
 * soon as its statistics say that one lane owns most of the table.
 */
const isHead = `
  (taken.ordering_key is null or (
    taken.id = (
      select older.id from holdfast.deliveries as older
      where older.ordering_key is not null
        and (older.ordering_key, older.lane_id, older.id) > (taken.ordering_key, taken.lane_id, 0::bigint)
        and (older.ordering_key, older.lane_id, older.id) <= (taken.ordering_key, taken.lane_id, taken.id)
      order by older.ordering_key, older.lane_id, older.id limit 1
    )
    and not exists (
      select from holdfast.dead_letters as letter
      where letter.lane_id = taken.lane_id and letter.ordering_key = taken.ordering_key
        and letter.blocks_key and letter.state in ('open', 'redriven')
    )
  )) as is_head`

const columns = `
  owed.id, owed.message_id, owed.lane_id, owed.route_id, owed.attempt, owed.uncounted, owed.size, owed.priority, owed.criticality,
  (extract(epoch from owed.due_at) * 1000)::float8, (extract(epoch from owed.expires_at) * 1000)::float8,
  (extract(epoch from owed.owed_at) * 1000)::float8, owed.ordering_key, owed.is_head, owed.variant`

export interface StreamRequest {
  readonly laneId: number
  readonly priority: number
  readonly after: number
  readonly maxRows: number
}

/**
 * The next ready deliveries of each stream (a lane's line of one priority), up to the arrivals cursor: what lies beyond it hasn't
 * been seen under a snapshot yet. Index: deliveries_ready.
 */
export async function readStreams(
  database: Database,
  requests: readonly StreamRequest[],
  upTo: number,
): Promise<DeliveryRow[]> {
  return database.queryArrays<DeliveryRow>(
    {
      name: 'read_streams',
      text: `
        select ${columns}
        from unnest($1::int[], $2::int[], $3::bigint[], $4::int[]) as asked (lane_id, priority, after, max_rows)
        cross join lateral (
          select taken.*, ${isHead} from (
            select line.* from holdfast.deliveries as line
            where line.due_at is null
              and (line.lane_id, line.priority, line.id) > (asked.lane_id, asked.priority, asked.after)
              and (line.lane_id, line.priority, line.id) <= (asked.lane_id, asked.priority, $5::bigint)
            order by line.lane_id, line.priority, line.id limit asked.max_rows
          ) as taken
        ) as owed`,
    },
    [
      numberArray(requests.map((request) => request.laneId)),
      numberArray(requests.map((request) => request.priority)),
      numberArray(requests.map((request) => request.after)),
      numberArray(requests.map((request) => request.maxRows)),
      upTo,
    ],
  )
}

/** Scheduled deliveries whose time has come, by the database's clock, the longest due first. Index: deliveries_scheduled. */
export async function readDue(
  database: Database,
  requests: readonly { readonly laneId: number; readonly maxRows: number }[],
): Promise<DeliveryRow[]> {
  return database.queryArrays<DeliveryRow>(
    {
      name: 'read_due',
      text: `
        select ${columns}
        from unnest($1::int[], $2::int[]) as asked (lane_id, max_rows)
        cross join lateral (
          select taken.*, ${isHead} from (
            select line.* from holdfast.deliveries as line
            where line.lane_id = asked.lane_id and line.due_at <= now()
            order by line.due_at, line.id limit asked.max_rows
          ) as taken
        ) as owed`,
    },
    [
      numberArray(requests.map((request) => request.laneId)),
      numberArray(requests.map((request) => request.maxRows)),
    ],
  )
}

/** When each lane's next scheduled delivery is due, after what is due now. Index: deliveries_scheduled, one entry a lane. */
export async function readNextDue(
  database: Database,
  laneIds: readonly number[],
): Promise<readonly (readonly [laneId: number, dueAtMs: number | null])[]> {
  return database.queryArrays<[number, number | null]>(
    {
      name: 'read_next_due',
      text: `
        select asked.lane_id, (
          select (extract(epoch from line.due_at) * 1000)::float8 from holdfast.deliveries as line
          where line.lane_id = asked.lane_id and line.due_at > now() order by line.due_at limit 1
        ) from unnest($1::int[]) as asked (lane_id)`,
    },
    [numberArray(laneIds)],
  )
}

/** Deliveries by id, whatever their place in the line. Index: deliveries_pkey. */
export async function readByIds(database: Database, ids: readonly number[]): Promise<DeliveryRow[]> {
  return database.queryArrays<DeliveryRow>(
    {
      name: 'read_by_ids',
      text: `
        with owed as materialized (
          select taken.*, ${isHead} from holdfast.deliveries as taken
          where taken.id = any ($1::bigint[]) and (taken.due_at is null or taken.due_at <= now())
        )
        select ${columns} from owed order by owed.priority desc, owed.id`,
    },
    [numberArray(ids)],
  )
}

/** The oldest delivery of each ordering key that has just become free; one that isn't due yet is left out. Index: deliveries_keyed. */
export async function readKeyHeads(
  database: Database,
  keys: readonly { readonly laneId: number; readonly key: string }[],
): Promise<DeliveryRow[]> {
  return database.queryArrays<DeliveryRow>(
    {
      name: 'read_key_heads',
      text: `
        with owed as materialized (
          select taken.*, ${isHead}
          from unnest($1::int[], $2::text[]) as asked (lane_id, key)
          cross join lateral (
            select line.* from holdfast.deliveries as line
            where line.ordering_key is not null
              and (line.ordering_key, line.lane_id, line.id) > (asked.key, asked.lane_id, 0::bigint)
              and (line.ordering_key, line.lane_id, line.id) <= (asked.key, asked.lane_id, 9223372036854775807)
            order by line.ordering_key, line.lane_id, line.id limit 1
          ) as taken
          where taken.due_at is null or taken.due_at <= now()
        )
        select ${columns} from owed order by owed.priority desc, owed.id`,
    },
    [numberArray(keys.map((each) => each.laneId)), keys.map((each) => each.key)],
  )
}

/**
 * Takes due deliveries that wait for an older one of their key out of the schedule: they are found again as heads of their key,
 * and mustn't stand in front of every read of what is due.
 */
export async function parkBehindKey(database: Database, ids: readonly number[]): Promise<void> {
  await database.query(
    {
      name: 'park_behind_key',
      text: `update holdfast.deliveries set due_at = null where id = any ($1::bigint[]) and ordering_key is not null and due_at <= now()`,
    },
    [numberArray(ids)],
  )
}
