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

/** Endpoints that need attention first, then by name. Indexes: see holdfast_internal.overview. */
export async function readOverview(database: Database, limit: number): Promise<OverviewRow[]> {
  return database.query<OverviewRow>(
    {
      name: 'read_overview',
      text: `
        select endpoint as name, state, reason, circuit, pending::float8 as pending, in_flight as "inFlight", dead_letters::float8 as "deadLetters",
               greatest(0, coalesce(extract(epoch from clock_timestamp() - oldest_due_at) * 1000, 0))::float8 as "oldestDueMs"
        from holdfast_internal.overview($1)`,
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

/** Nodes with a heartbeat within the last ten seconds. A few rows. */
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
