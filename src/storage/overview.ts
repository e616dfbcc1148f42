import type { Database } from './database.ts'

export interface OverviewRow {
  readonly name: string
  readonly state: 'active' | 'paused' | 'rejecting' | 'disabled' | 'held'
  readonly reason: string | null
  readonly circuit: 'closed' | 'open' | 'half_open'
  readonly pending: number
  readonly inFlight: number
  readonly deadLetters: number
  readonly oldestDueMs: number
}

/** Those that need somebody first, then by name. Reads every endpoint's row; the depths come from what owners report. */
export async function readOverview(database: Database, limit: number): Promise<OverviewRow[]> {
  return database.query<OverviewRow>(
    {
      name: 'read_overview',
      text: `
        with chosen as (
          select endpoint.id, endpoint.name, coalesce(breaker.state, 'closed') as circuit,
                 (endpoint.state <> 'active' or breaker.state <> 'closed' or breaker.held_until > now() or breaker.hold_reason is not null)
                   is true as is_troubled
          from holdfast_internal.endpoints as endpoint left join holdfast_internal.breakers as breaker on breaker.lane_id = endpoint.id
          order by is_troubled desc, endpoint.name limit $1
        )
        select health.endpoint as name, health.state, health.reason, health.circuit, health.pending::float8 as pending,
               health.in_flight as "inFlight", health.dead_letters::float8 as "deadLetters",
               greatest(0, coalesce(extract(epoch from clock_timestamp() - health.oldest_due_at) * 1000, 0))::float8 as "oldestDueMs"
        from chosen cross join lateral holdfast.endpoint_health(chosen.name) as health
        order by chosen.is_troubled desc, chosen.name`,
    },
    [limit],
  )
}

export interface NodeRow {
  readonly name: string
  readonly version: string
  readonly startedAt: Date
  readonly lastBeatAt: Date
  readonly isStopping: boolean
}

/** Nodes that beat within the last ten seconds. A handful of rows. */
export async function readLiveNodes(database: Database): Promise<NodeRow[]> {
  return database.query<NodeRow>(
    {
      name: 'read_live_nodes',
      text: `
        select name, version, started_at as "startedAt", beat_at as "lastBeatAt", is_stopping as "isStopping"
        from holdfast_internal.nodes where beat_at > now() - interval '10 seconds' order by name`,
    },
    [],
  )
}
