import type { ClientBase } from 'pg'
import type { Database } from './database.ts'

/** Returns how many rows it wrote, two for each endpoint. Indexes: see holdfast_internal.sample_backlogs. */
export async function sampleBacklogs(client: Pick<ClientBase, 'query'>, maxLanes: number): Promise<number> {
  const { rows } = await client.query<{ noted: number }>(
    'select holdfast_internal.sample_backlogs($1) as noted',
    [maxLanes],
  )
  return rows[0]?.noted ?? 0
}

/** Index: lane_backlogs_age. */
export async function purgeBacklogs(client: Pick<ClientBase, 'query'>, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ purged: number }>(
    'select holdfast_internal.purge_backlogs($1) as purged',
    [maxRows],
  )
  return rows[0]?.purged ?? 0
}

export interface BacklogStep {
  readonly at: Date
  /** The highest number of pending deliveries in this step. */
  readonly pending: number
}

/**
 * A backlog in steps, oldest first. An endpoint has no sample if it had no pending deliveries, or fewer than the 500
 * endpoints sampled. Indexes: endpoints_name_key, lane_backlogs_pkey.
 */
export async function readBacklog(
  database: Database,
  endpoint: string,
  window: { readonly period: number; readonly lengthMs: number; readonly stepMs: number },
): Promise<BacklogStep[]> {
  return database.query<BacklogStep>(
    {
      name: 'read_backlog',
      text: `
        select date_bin(make_interval(secs => $4::float8 / 1000), sample.starts_at, '2024-01-01 00:00:00Z') as at, max(sample.pending) as pending
        from (select id from holdfast_internal.endpoints where name = $1) as endpoint
        cross join lateral (
          select one.starts_at, one.pending from holdfast_internal.lane_backlogs as one
          where (one.lane_id, one.step_seconds, one.starts_at) >= (endpoint.id, $2::int, now() - make_interval(secs => $3::float8 / 1000))
            and (one.lane_id, one.step_seconds, one.starts_at) < (endpoint.id, $2::int, 'infinity')
          order by one.lane_id, one.step_seconds, one.starts_at limit 1500
        ) as sample
        group by 1 order by 1`,
    },
    [endpoint, window.period === 1 ? 60 : 3600, window.lengthMs, window.stepMs],
  )
}
