import type { StoredSecret } from '../secrets/endpoint-secrets.ts'
import type { Database } from './database.ts'
import { storedSecretsColumn } from './secrets.ts'
import { firstUnseen, watermarkNow } from './watermark.ts'

/** A stored endpoint and its breaker. `settings` and `config` are unchecked: they may have been edited by hand. */
export interface LaneRow {
  readonly id: number
  readonly name: string
  readonly transport: string
  readonly config: unknown
  readonly settings: unknown
  readonly state: string
  readonly stateReason: string | null
  readonly pauses: unknown
  /** Why the last owner held the lane. */
  readonly holdReason: string | null
  /** Encrypted, as stored. */
  readonly secrets: readonly StoredSecret[]
  readonly breaker: BreakerRow
}

export interface BreakerRow {
  readonly version: number
  readonly state: 'closed' | 'open' | 'half_open'
  readonly failures: number
  readonly permanents: readonly number[]
  readonly streak: number
  readonly streakStartedAtMs: number | null
  readonly openedAtMs: number | null
  readonly probeAtMs: number | null
  readonly probeExpiresAtMs: number | null
  readonly heldUntilMs: number | null
}

const selectLanes = `
  select endpoint.id, endpoint.name, endpoint.transport, endpoint.config, endpoint.settings, endpoint.state,
         endpoint.state_reason as "stateReason", endpoint.pauses, breaker.hold_reason as "holdReason", ${storedSecretsColumn} as secrets,
         jsonb_build_object(
           'version', coalesce(breaker.version, 1), 'state', coalesce(breaker.state, 'closed'), 'failures', coalesce(breaker.failures, 0),
           'permanents', coalesce(to_jsonb(breaker.permanents), '[]'), 'streak', coalesce(breaker.streak, 0),
           'streakStartedAtMs', extract(epoch from breaker.streak_started_at) * 1000,
           'openedAtMs', extract(epoch from breaker.opened_at) * 1000,
           'probeAtMs', extract(epoch from breaker.probe_at) * 1000,
           'probeExpiresAtMs', extract(epoch from breaker.probe_expires_at) * 1000,
           'heldUntilMs', extract(epoch from breaker.held_until) * 1000
         ) as breaker
  from holdfast_internal.endpoints as endpoint left join holdfast_internal.breakers as breaker on breaker.lane_id = endpoint.id`

/** Index: endpoints_shard. */
export async function readLanesOfShards(database: Database, shards: readonly number[]): Promise<LaneRow[]> {
  return database.query<LaneRow>(
    {
      name: 'read_lanes_of_shards',
      text: `${selectLanes} where (endpoint.id & 255) = any ($1::int[]) order by endpoint.id`,
    },
    [shards],
  )
}

/** Index: endpoints_pkey. */
export async function readLanesById(database: Database, laneIds: readonly number[]): Promise<LaneRow[]> {
  return database.query<LaneRow>(
    { name: 'read_lanes_by_id', text: `${selectLanes} where endpoint.id = any ($1::int[])` },
    [laneIds],
  )
}

/** A lane with the database's time, on which its holds and probes are based. */
export interface LaneNow extends LaneRow {
  readonly nowMs: number
}

/** Index: endpoints_name_key. */
export async function readLaneByName(database: Database, name: string): Promise<LaneNow | undefined> {
  const rows = await database.query<LaneNow>(
    {
      name: 'read_lane_by_name',
      text: `
        select lane.*, (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"
        from (${selectLanes} where endpoint.name = $1) as lane`,
    },
    [name],
  )
  return rows[0]
}

export interface LaneChanges {
  readonly rows: readonly LaneRow[]
  /** Pass it to the next call, which will see changes of transactions that are still running now. */
  readonly watermark: string
}

/** Lanes whose endpoint or breaker changed since the watermark. Indexes: endpoints_changed, breakers_changed. */
export async function readChangedLanes(database: Database, watermark: string): Promise<LaneChanges> {
  const rows = await database.query<Partial<LaneRow> & { watermark: string }>(
    {
      name: 'read_changed_lanes',
      text: `
        select changed.*, ${watermarkNow} as watermark from (select 1) as always left join (
          ${selectLanes} where endpoint.id in (
            select id from holdfast_internal.endpoints where changed_xid >= ${firstUnseen('$1')}
            union select lane_id from holdfast_internal.breakers where changed_xid >= ${firstUnseen('$1')}
          )
        ) as changed on true`,
    },
    [watermark],
  )
  return {
    rows: rows.filter((row): row is LaneRow & { watermark: string } => typeof row.id === 'number'),
    watermark: rows[0]?.watermark ?? watermark,
  }
}

export interface StreamSummary {
  readonly laneId: number
  readonly priority: number
  readonly total: number
  readonly firstDueAtMs: number | null
}

/** The number of pending deliveries of these shards up to an id; once per takeover. Index: deliveries_ready, the whole index. */
export async function summariseStreams(
  database: Database,
  shards: readonly number[] | null,
  upTo: number,
): Promise<StreamSummary[]> {
  return database.query<StreamSummary>(
    {
      name: 'summarise_streams',
      text: `
        select lane_id as "laneId", priority, count(*)::int as total, (extract(epoch from min(due_at)) * 1000)::float8 as "firstDueAtMs"
        from holdfast_internal.deliveries
        where id <= $2 and ($1::int[] is null or (lane_id & 255) = any ($1))
        group by lane_id, priority`,
    },
    [shards, upTo],
  )
}

/** Rows of a lane counted in one statement: about 5 ms, which blocks no other session. */
const maxCountedRows = 20_000

/**
 * The number of pending deliveries of a lane up to an id, counted in parts. Index: deliveries_ready, compared as
 * rows of its columns, so that no other index has this order.
 */
export async function countLane(database: Database, laneId: number, upTo: number): Promise<number> {
  let total = 0
  let lines: readonly (readonly [priority: number, after: number])[] = [0, 1, 2, 3].map((level) => [level, 0])
  while (lines.length > 0) {
    const counted = await database.query<{ priority: number; total: number; last: number | null }>(
      {
        name: 'count_lane',
        text: `
          select line.priority, piece.total, piece.last from unnest($2::int[], $3::bigint[]) as line (priority, after)
          cross join lateral (
            select count(*)::int as total, max(owed.id) as last from (
              select id from holdfast_internal.deliveries
              where lane_id <= $1::int and (lane_id, priority, id) > ($1::int, line.priority, line.after)
                and (lane_id, priority, id) <= ($1::int, line.priority, $4::bigint)
              order by lane_id, priority, id limit $5
            ) as owed
          ) as piece`,
      },
      [laneId, lines.map(([priority]) => priority), lines.map(([, after]) => after), upTo, maxCountedRows],
    )
    total += counted.reduce((sum, piece) => sum + piece.total, 0)
    lines = counted
      .filter((piece) => piece.total === maxCountedRows)
      .map(({ priority, last }) => [priority, last ?? upTo])
  }
  return total
}

/** Records that a recovery sweep found a lane with due deliveries that were not read; this raises an alert. */
export async function recordRevival(
  database: Database,
  node: string,
  endpoint: string,
  owed: number,
): Promise<void> {
  await database.query(
    {
      name: 'record_revival',
      text: `select holdfast_internal.audit('node:' || $1, 'lane.revived', 'endpoint:' || $2, jsonb_build_object('owed', $3::bigint))`,
    },
    [node, endpoint, owed],
  )
}

export interface LaneReport {
  readonly laneId: number
  readonly pending: number
  readonly inFlight: number
}

/** Called at most once a second, and only for lanes that changed. Index: lane_stats_pkey. */
export async function reportLanes(database: Database, reports: readonly LaneReport[]): Promise<void> {
  await database.query(
    {
      name: 'report_lanes',
      text: `
        insert into holdfast_internal.lane_stats (lane_id, pending, in_flight)
        select * from unnest($1::int[], $2::bigint[], $3::int[])
        on conflict (lane_id) do update
        set pending = excluded.pending, in_flight = excluded.in_flight, reported_at = clock_timestamp()`,
    },
    [
      reports.map((report) => report.laneId),
      reports.map((report) => report.pending),
      reports.map((report) => report.inFlight),
    ],
  )
}

/** Stores why nothing is sent to an endpoint in its health; null clears it. Index: breakers_pkey. */
export async function setHoldReason(
  database: Database,
  laneId: number,
  reason: string | null,
): Promise<void> {
  await database.query(
    {
      name: 'set_hold_reason',
      text: `
        insert into holdfast_internal.breakers (lane_id, hold_reason) values ($1, $2)
        on conflict (lane_id) do update set hold_reason = excluded.hold_reason
        where breakers.hold_reason is distinct from excluded.hold_reason`,
    },
    [laneId, reason],
  )
}

/** Index: breakers_pkey. */
export async function startProbe(
  database: Database,
  laneId: number,
  token: string,
  timeoutMs: number,
): Promise<number | null> {
  const rows = await database.query<{ version: number | null }>(
    { name: 'start_probe', text: 'select holdfast_internal.start_probe($1, $2, $3) as version' },
    [laneId, token, timeoutMs],
  )
  return rows[0]?.version ?? null
}

/** Returns a probe that was never sent. Index: breakers_pkey. */
export async function abandonProbe(database: Database, laneId: number, token: string): Promise<void> {
  await database.query({ name: 'abandon_probe', text: 'select holdfast_internal.abandon_probe($1, $2)' }, [
    laneId,
    token,
  ])
}
