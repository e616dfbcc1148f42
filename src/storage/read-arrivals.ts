import type { Database } from './database.ts'

/** What PostgreSQL calls a snapshot: everything below xmin has ended, everything from xmax on hadn't begun. */
export interface Snapshot {
  readonly xmin: bigint
  readonly xmax: bigint
  readonly running: readonly bigint[]
}

export interface Arrivals {
  readonly snapshot: Snapshot
  /** The highest id that this read passed. */
  readonly cursor: number
  /** True when the row limit cut it short: there is more. */
  readonly isPartial: boolean
  readonly groups: readonly ArrivalGroup[]
}

export interface ArrivalGroup {
  readonly laneId: number
  readonly priority: number
  readonly total: number
  readonly ready: number
  /** In database time; null when nothing among them is scheduled. */
  readonly firstDueAtMs: number | null
}

export interface SeenDelivery {
  readonly id: number
  readonly laneId: number
  readonly priority: number
  readonly dueAtMs: number | null
}

export function parseSnapshot(text: string): Snapshot {
  const [xmin = '0', xmax = '0', running = ''] = text.split(':')
  return {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    running: running === '' ? [] : running.split(',').map(BigInt),
  }
}

/** Index: deliveries_pkey, backwards, one entry. */
export async function readTopId(database: Database): Promise<{ cursor: number; snapshot: Snapshot }> {
  const rows = await database.query<{ cursor: number; snapshot: string }>(
    {
      name: 'read_top_id',
      text: `select coalesce((select max(id) from holdfast.deliveries), 0) as cursor, pg_current_snapshot()::text as snapshot`,
    },
    [],
  )
  return { cursor: Number(rows[0]?.cursor), snapshot: parseSnapshot(rows[0]?.snapshot ?? '0:0:') }
}

/**
 * What came in after `cursor`, as counts per lane and priority: whether a lane has one new delivery or a thousand, it is
 * one small row, and ten thousand trickling lanes cost one statement. Index: deliveries_pkey.
 */
export async function readArrivals(
  database: Database,
  cursor: number,
  shards: readonly number[] | null,
  maxRows: number,
): Promise<Arrivals> {
  const rows = await database.queryArrays<
    [number | null, number, number, number, number | null, number, number, string]
  >(
    {
      name: 'read_arrivals',
      text: `
        with fresh as materialized (
          select id, lane_id, priority, due_at from holdfast.deliveries where id > $1 order by id limit $3
        ), grouped as (
          select lane_id, priority, count(*)::int as total, (count(*) filter (where due_at is null))::int as ready,
                 extract(epoch from min(due_at)) * 1000 as due
          from fresh where $2::int[] is null or (lane_id & 255) = any ($2) group by lane_id, priority
        )
        select lane_id, priority, total, ready, due::float8, passed, seen, pg_current_snapshot()::text
        from (select coalesce(max(id), $1) as passed, count(*)::int as seen from fresh) as position
        left join grouped on true`,
    },
    [cursor, shards, maxRows],
  )
  const first = rows[0]
  if (first === undefined) throw new Error('read_arrivals returned no row')
  return {
    snapshot: parseSnapshot(first[7]),
    cursor: first[5],
    isPartial: first[6] >= maxRows,
    groups: rows
      .filter((row) => row[0] !== null)
      .map(([laneId, priority, total, ready, firstDueAtMs]) => ({
        laneId: laneId ?? 0,
        priority,
        total,
        ready,
        firstDueAtMs,
      })),
  }
}

/** What is visible in an id range that was passed before, for transactions that ended late. Index: deliveries_pkey. */
export async function readRange(
  database: Database,
  range: { readonly after: number; readonly upTo: number },
  shards: readonly number[] | null,
  maxRows: number,
): Promise<SeenDelivery[]> {
  const rows = await database.queryArrays<[number, number, number, number | null]>(
    {
      name: 'read_range',
      text: `
        select id, lane_id, priority, (extract(epoch from due_at) * 1000)::float8
        from holdfast.deliveries
        where id > $1 and id <= $2 and ($3::int[] is null or (lane_id & 255) = any ($3))
        order by id limit $4`,
    },
    [range.after, range.upTo, shards, maxRows],
  )
  return rows.map(([id, laneId, priority, dueAtMs]) => ({ id, laneId, priority, dueAtMs }))
}
