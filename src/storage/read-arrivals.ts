import type { Database } from './database.ts'
import type { DeliveryRow } from './read-deliveries.ts'
import type { MessageRest } from './read-messages.ts'
import { serverLife } from './watermark.ts'

/** A PostgreSQL snapshot: every transaction below xmin has ended, none from xmax on has. */
export interface Snapshot {
  readonly xmin: bigint
  /** One past the highest transaction that has ended: transactions that began since are running, but not listed in `running`. */
  readonly xmax: bigint
  /** Running transactions below xmax. */
  readonly running: readonly bigint[]
  /** The next transaction to begin, read right after the snapshot was taken. */
  readonly next: bigint
}

const firstTransaction = 3

export interface Arrivals {
  readonly snapshot: Snapshot
  /** Identifies the server start: a cursor from another start is invalid. */
  readonly life: string
  /** The highest id that this read passed. */
  readonly cursor: number
  /** True if the row limit was reached and there are more rows. */
  readonly isPartial: boolean
  readonly groups: readonly ArrivalGroup[]
}

export interface ArrivalGroup {
  readonly laneId: number
  readonly priority: number
  readonly total: number
  readonly ready: number
  /** In database time; null if no delivery is scheduled. */
  readonly firstDueAtMs: number | null
  /** Plain deliveries with their bodies, if few arrived: an idle lane then needs no further read. */
  readonly whole: readonly WholeRow[]
}

/** A delivery with its message. */
export type WholeRow = readonly [row: DeliveryRow, body: string, createdAtMs: number, rest: MessageRest]

const maxWholeRows = 16
const maxWholeBytes = 16_384

export interface SeenDelivery {
  readonly id: number
  readonly laneId: number
  readonly priority: number
  readonly dueAtMs: number | null
  readonly isKeyed: boolean
}

/**
 * A snapshot doesn't show which transactions began after the last one that ended. The distance from the first id ever to the next one does, modulo
 * 2^32, and uses no transaction id of our own, as pg_current_xact_id() would.
 */
export const nextTransaction = `age('${firstTransaction}'::xid)`

export function parseSnapshot(text: string, ageOfFirst: number): Snapshot {
  const [xmin = '0', xmax = '0', running = ''] = text.split(':')
  const ended = BigInt(xmax)
  return {
    xmin: BigInt(xmin),
    xmax: ended,
    running: running === '' ? [] : running.split(',').map(BigInt),
    next: ended + BigInt.asUintN(32, BigInt(ageOfFirst) + BigInt(firstTransaction) - ended),
  }
}

/** Whether this server allows prepared transactions, as an expression: those send no notification, see holdfast_internal.notify. */
export const allowsPrepared = `current_setting('max_prepared_transactions') <> '0'`

/** Index: deliveries_pkey, backwards, one entry. */
export async function readTopId(
  database: Database,
): Promise<{ cursor: number; snapshot: Snapshot; life: string; allowsPrepared: boolean }> {
  const rows = await database.query<{
    cursor: number
    snapshot: string
    age: number
    life: string
    allowsPrepared: boolean
  }>(
    {
      name: 'read_top_id',
      text: `select coalesce((select max(id) from holdfast_internal.deliveries), 0) as cursor, pg_current_snapshot()::text as snapshot,
               ${nextTransaction} as age, ${serverLife} as life, ${allowsPrepared} as "allowsPrepared"`,
    },
    [],
  )
  const row = rows[0]
  if (row === undefined) throw new Error('read_top_id returned no row')
  const { cursor, life } = row
  return { cursor, life, snapshot: parseSnapshot(row.snapshot, row.age), allowsPrepared: row.allowsPrepared }
}

/**
 * Deliveries after `cursor`, as counts per lane and priority: a lane is one small row whether it has one new delivery or a thousand, and ten
 * thousand lanes with little traffic cost one statement. Index: deliveries_pkey.
 */
export async function readArrivals(
  database: Database,
  cursor: number,
  shards: readonly number[] | null,
  maxRows: number,
): Promise<Arrivals> {
  const rows = await database.queryArrays<
    [
      number | null,
      number,
      number,
      number,
      number | null,
      number,
      number,
      string,
      number,
      WholeRow[] | null,
      string,
    ]
  >(
    {
      name: 'read_arrivals',
      text: `
        with fresh as materialized (
          select id, lane_id, priority, due_at from holdfast_internal.deliveries where id > $1 order by id limit $3
        ), grouped as (
          select lane_id, priority, count(*)::int as total, (count(*) filter (where due_at is null))::int as ready,
                 extract(epoch from min(due_at)) * 1000 as due
          from fresh where $2::int[] is null or (lane_id & 255) = any ($2) group by lane_id, priority
        )
        select lane_id, priority, total, ready, due::float8, passed, seen, pg_current_snapshot()::text, ${nextTransaction},
          case when lane_id is not null and seen <= ${maxWholeRows} then (
            select json_agg(json_build_array(
              json_build_array(
                owed.id, owed.lane_id, owed.priority, owed.size, owed.message_id, null, owed.attempt, owed.uncounted, owed.criticality, null,
                date_part('epoch', owed.expires_at) * 1000, date_part('epoch', owed.owed_at) * 1000, null, true, owed.variant, owed.replay_id
              ),
              message.body::text, date_part('epoch', message.created_at) * 1000,
              json_build_array(message.type, message.correlation_id, message.headers, message.needs_check, null, null)
            ) order by owed.id)
            from fresh join holdfast_internal.deliveries as owed on owed.id = fresh.id
            join holdfast_internal.messages as message on message.id = owed.message_id
            where fresh.lane_id = grouped.lane_id and fresh.priority = grouped.priority and owed.due_at is null
              and owed.ordering_key is null and owed.route_id is null and owed.size <= ${maxWholeBytes}
          ) end, ${serverLife}
        from (select coalesce(max(id), $1) as passed, count(*)::int as seen from fresh) as position
        left join grouped on true`,
    },
    [cursor, shards, maxRows],
  )
  const first = rows[0]
  if (first === undefined) throw new Error('read_arrivals returned no row')
  return {
    snapshot: parseSnapshot(first[7], first[8]),
    life: first[10],
    cursor: first[5],
    isPartial: first[6] >= maxRows,
    groups: rows
      .filter((row) => row[0] !== null)
      .map(([laneId, priority, total, ready, firstDueAtMs, , , , , whole]) => ({
        laneId: laneId ?? 0,
        priority,
        total,
        ready,
        firstDueAtMs,
        whole: whole ?? [],
      })),
  }
}

/** Deliveries visible in an id range that the cursor has passed, for transactions that ended late. Index: deliveries_pkey. */
export async function readRange(
  database: Database,
  range: { readonly after: number; readonly upTo: number },
  shards: readonly number[] | null,
  maxRows: number,
): Promise<SeenDelivery[]> {
  const rows = await database.queryArrays<[number, number, number, number | null, boolean]>(
    {
      name: 'read_range',
      text: `
        select id, lane_id, priority, (extract(epoch from due_at) * 1000)::float8, ordering_key is not null
        from holdfast_internal.deliveries
        where id > $1 and id <= $2 and ($3::int[] is null or (lane_id & 255) = any ($3))
        order by id limit $4`,
    },
    [range.after, range.upTo, shards, maxRows],
  )
  return rows.map(([id, laneId, priority, dueAtMs, isKeyed]) => ({ id, laneId, priority, dueAtMs, isKeyed }))
}
