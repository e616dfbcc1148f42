import type { Database } from './database.ts'

export interface TroubledEndpoint {
  readonly name: string
  readonly state: 'active' | 'paused' | 'rejecting' | 'disabled' | 'held'
  readonly reason: string | null
  readonly circuit: 'closed' | 'open' | 'half_open'
  readonly failures: number
  readonly openedAt: Date | null
  readonly probeAt: Date | null
  readonly heldUntil: Date | null
  readonly pending: number
  readonly deadLetters: number
  readonly stateChangedAt: Date
}

/** By name. Indexes: see holdfast_internal.troubled_endpoints. */
export async function readTroubledEndpoints(database: Database, limit: number): Promise<TroubledEndpoint[]> {
  return database.query<TroubledEndpoint>(
    {
      name: 'read_troubled_endpoints',
      text: `
        select endpoint as name, state, reason, circuit, failures, opened_at as "openedAt", probe_at as "probeAt", held_until as "heldUntil",
               pending::float8 as pending, dead_letters::float8 as "deadLetters", state_changed_at as "stateChangedAt"
        from holdfast_internal.troubled_endpoints($1)`,
    },
    [limit],
  )
}

export interface LetterInflow {
  readonly endpoint: string | null
  readonly queue: string | null
  readonly letters: number
  readonly firstAt: Date
  readonly lastAt: Date
  readonly sampleError: string | null
}

/** Open dead letters of the last hour by lane, among the newest `maxLetters`. Indexes: see holdfast_internal.letter_inflow. */
export async function readLetterInflow(
  database: Database,
  maxLetters: number,
  maxLanes: number,
): Promise<LetterInflow[]> {
  return database.query<LetterInflow>(
    {
      name: 'read_letter_inflow',
      text: `
        select endpoint, queue, letters::float8 as letters, first_at as "firstAt", last_at as "lastAt", sample_error as "sampleError"
        from holdfast_internal.letter_inflow(holdfast_internal.id_at(clock_timestamp() - interval '1 hour'), $1, $2)`,
    },
    [maxLetters, maxLanes],
  )
}

export interface RecentChange {
  readonly at: Date
  readonly action: string
  readonly subject: string
}

/**
 * Changes by users, circuits that opened and closed, and processes that started: the newest first, without details. Left out, because they can't be a
 * cause: sign-ins, triggered runs and the end of an operation. Indexes: audit_log_pkey, circuit_changes_pkey; a row for each node and worker.
 */
export async function readRecentChanges(database: Database, limit: number): Promise<RecentChange[]> {
  return database.query<RecentChange>(
    {
      name: 'read_recent_changes',
      text: `
        select at, action, subject from (
          select at, action, subject from (
            select at, action, subject from holdfast_internal.audit_log order by id desc limit 4 * $1
          ) as entry where action not like 'session.%' and action not in ('job.triggered', 'operation.succeeded')
          union all
          select at, 'circuit.' || to_state, 'endpoint:' || coalesce(
            (select name from holdfast_internal.endpoints as endpoint where endpoint.id = change.lane_id), 'deleted')
          from (select at, to_state, lane_id from holdfast_internal.circuit_changes order by id desc limit $1) as change
          union all
          select max(started_at), what || '.started', what || ':' || case count(*) when 1 then min(name) else count(*) || ' ' || what || 's' end
          from (
            select started_at, name, 'worker' as what from holdfast_internal.workers
            union all select started_at, name, 'node' from holdfast_internal.nodes
          ) as process group by what, date_trunc('minute', started_at)
        ) as every
        order by at desc limit $1`,
    },
    [limit],
  )
}
