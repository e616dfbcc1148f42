import type { ClientBase } from 'pg'
import type { Database } from './database.ts'

/** The counts of one lane in one period. Field names are those that `holdfast_internal.add_rollups` reads. */
export interface RollupRow {
  readonly lane: number
  /** 1 a minute, 2 an hour, 3 a day. */
  readonly period: number
  readonly startsAtMs: number
  readonly attempts: number
  readonly successes: number
  readonly throttled: number
  readonly durations: readonly number[]
  readonly answers: Readonly<Record<string, number>>
}

/** A node's counts for the whole installation. Field names are those that `holdfast_internal.add_rollups_v2` reads. */
export interface SiteRollupRow {
  readonly stepSeconds: number
  readonly startsAtMs: number
  readonly attempts: number
  readonly successes: number
  readonly throttled: number
  readonly latencies: readonly number[] | Uint32Array
}

export interface SiteRollupSum {
  readonly startsAt: Date
  /** Null: not counted yet. */
  readonly accepted: number | null
  readonly backlog: number | null
  readonly attempts: number
  readonly successes: number
  readonly throttled: number
  readonly latencies: readonly number[]
}

export interface RollupSum {
  readonly endpoint: string
  readonly startsAt: Date
  readonly attempts: number
  readonly successes: number
  readonly throttled: number
  readonly durations: readonly number[]
  readonly answers: Readonly<Record<string, number>>
}

/** Indexes: rollups_pkey, site_rollups_pkey. */
export async function addRollups(
  database: Database,
  incarnation: number,
  flushNumber: number,
  rows: readonly RollupRow[],
  site: readonly SiteRollupRow[],
): Promise<void> {
  await database.query(
    { name: 'add_rollups_v2', text: 'select holdfast_internal.add_rollups_v2($1, $2, $3, $4)' },
    [incarnation, flushNumber, JSON.stringify(rows), JSON.stringify(site)],
  )
}

/** Sums in steps, oldest first. Index: site_rollups_pkey. */
export async function sumSiteRollups(
  database: Database,
  window: { readonly siteStepSeconds: number; readonly lengthMs: number; readonly stepMs: number },
): Promise<SiteRollupSum[]> {
  return database.query<SiteRollupSum>(
    {
      name: 'sum_site_rollups',
      text: `
        select starts_at as "startsAt", accepted, backlog, attempts, successes, throttled, latencies from holdfast_internal.sum_site_rollups(
          $1, now() - make_interval(secs => $2::float8 / 1000), make_interval(secs => $3::float8 / 1000))`,
    },
    [window.siteStepSeconds, window.lengthMs, window.stepMs],
  )
}

/** Counts the events of past minutes; returns the number of minutes. Indexes: messages_pkey, site_rollups_pkey. */
export async function sampleSite(
  client: Pick<ClientBase, 'query'>,
  maxMinutes: number,
  maxRows: number,
): Promise<number> {
  const { rows } = await client.query<{ counted: number }>(
    'select holdfast_internal.sample_site($1, $2) as counted',
    [maxMinutes, maxRows],
  )
  return rows[0]?.counted ?? 0
}

/** Approximate number of events accepted in a time span; null if no statistics exist for that time. Index: site_rollups_pkey. */
export async function countSiteEvents(
  database: Database,
  from: Date,
  to: Date | null,
): Promise<number | null> {
  const rows = await database.query<{ events: number | null }>(
    {
      name: 'count_site_events',
      text: `select holdfast_internal.count_site_events($1::timestamptz, coalesce($2::timestamptz, 'infinity')) as events`,
    },
    [from, to],
  )
  return rows[0]?.events ?? null
}

/** Index: site_rollups_pkey. */
export async function purgeSiteRollups(client: Pick<ClientBase, 'query'>, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ purged: number }>(
    'select holdfast_internal.purge_site_rollups($1) as purged',
    [maxRows],
  )
  return rows[0]?.purged ?? 0
}

const columns = `endpoint.name as endpoint, sums.starts_at as "startsAt", attempts, successes, throttled, durations, answers`

/** Sums in steps, oldest first; undefined if there is no such endpoint. Indexes: endpoints_name_key, rollups_pkey. */
export async function sumRollupsOf(
  database: Database,
  endpoint: string,
  window: { period: number; lengthMs: number; stepMs: number },
): Promise<RollupSum[] | undefined> {
  const rows = await database.query<RollupSum & { startsAt: Date | null }>(
    {
      name: 'sum_rollups_of',
      text: `
        select ${columns} from holdfast_internal.endpoints as endpoint left join lateral holdfast_internal.sum_rollups_of_lane(
          endpoint.id, $2::smallint, now() - make_interval(secs => $3::float8 / 1000), make_interval(secs => $4::float8 / 1000)
        ) as sums on true
        where endpoint.name = $1 order by sums.starts_at`,
    },
    [endpoint, window.period, window.lengthMs, window.stepMs],
  )
  if (rows.length === 0) return undefined
  return rows.filter((row) => (row.startsAt as Date | null) !== null)
}

/** One sum for each endpoint with attempts, the busiest first. Indexes: rollups_age, endpoints_pkey, rollups_pkey. */
export async function sumRollupsOfAll(
  database: Database,
  window: { period: number; lengthMs: number },
  limit: number,
): Promise<RollupSum[]> {
  return database.query<RollupSum>(
    {
      name: 'sum_rollups_of_all',
      text: `
        select ${columns}
        from holdfast_internal.sum_busiest_rollups($1::smallint, now() - make_interval(secs => $2::float8 / 1000), $3) as sums
        join holdfast_internal.endpoints as endpoint on endpoint.id = sums.lane_id
        order by attempts desc, endpoint`,
    },
    [window.period, window.lengthMs, limit],
  )
}

/** Returns the number of endpoints processed: fewer than `maxLanes` if these were the last. Index: rollups_pkey. */
export async function rollUpLanes(
  client: Pick<ClientBase, 'query'>,
  daysBack: number,
  maxLanes: number,
): Promise<number> {
  const { rows } = await client.query<{ looked_at: number }>(
    'select holdfast_internal.roll_up_lanes($1, $2) as looked_at',
    [daysBack, maxLanes],
  )
  return rows[0]?.looked_at ?? 0
}

/** Index: rollups_age. */
export async function purgeRollups(client: Pick<ClientBase, 'query'>, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ purged: number }>(
    'select holdfast_internal.purge_rollups($1) as purged',
    [maxRows],
  )
  return rows[0]?.purged ?? 0
}
