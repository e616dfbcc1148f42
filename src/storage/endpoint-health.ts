import type { Database } from './database.ts'

/** The health of an endpoint, as in the API. `pending` and `inFlight` are the last report of its owner, at most a second old. */
export interface EndpointHealth {
  readonly state: 'active' | 'paused' | 'rejecting' | 'disabled' | 'held'
  readonly reason: string | null
  readonly circuit: {
    readonly state: 'closed' | 'open' | 'half_open'
    readonly failures: number
    readonly openedAt: Date | null
    readonly probeAt: Date | null
  }
  readonly heldUntil: Date | null
  readonly pending: number
  readonly inFlight: number
  readonly oldestDueMs: number
  readonly deadLetters: number
}

interface HealthRow {
  state: EndpointHealth['state']
  reason: string | null
  circuit: EndpointHealth['circuit']['state']
  failures: number
  opened_at: Date | null
  probe_at: Date | null
  held_until: Date | null
  pending: number
  in_flight: number
  oldest_due_ms: number
  dead_letters: number
}

/** Returns undefined if there is no such endpoint. Indexes: endpoints_name_key and those of holdfast_internal.health_of. */
export async function readHealth(database: Database, name: string): Promise<EndpointHealth | undefined> {
  const rows = await database.query<HealthRow>(
    {
      name: 'read_health',
      text: `
        select *, greatest(0, coalesce((extract(epoch from clock_timestamp() - oldest_due_at) * 1000)::float8, 0)) as oldest_due_ms
        from holdfast.endpoint_health($1)`,
    },
    [name],
  )
  return rows[0] === undefined ? undefined : toHealth(rows[0])
}

function toHealth(row: HealthRow): EndpointHealth {
  return {
    state: row.state,
    reason: row.reason,
    circuit: {
      state: row.circuit,
      failures: row.failures,
      openedAt: row.opened_at,
      probeAt: row.probe_at,
    },
    heldUntil: row.held_until,
    pending: row.pending,
    inFlight: row.in_flight,
    oldestDueMs: Math.round(row.oldest_due_ms),
    deadLetters: row.dead_letters,
  }
}

export interface HealthFilter {
  readonly afterName: string
  /** A part of the name; null: any name. */
  readonly nameHas: string | null
  readonly tag: string | null
  readonly state: string | null
  /** Only endpoints in a state other than normal delivery. */
  readonly isTroubled: boolean
}

export interface HealthStep {
  readonly startsAt: string
  readonly attempts: number
  readonly successes: number
  readonly throttled: number
  readonly durations: readonly number[]
}

export interface HealthRecord extends EndpointHealth {
  readonly name: string
  readonly url: string | null
  readonly tags: readonly string[]
  readonly concurrency: number
  /** The last day, by the hour. */
  readonly steps: readonly HealthStep[]
}

/** By name. Indexes: see holdfast_internal.endpoint_health_page, and rollups_pkey. */
export async function readHealthPage(
  database: Database,
  { afterName, nameHas, tag, state, isTroubled }: HealthFilter,
  limit: number,
): Promise<HealthRecord[]> {
  const rows = await database.query<
    HealthRow & {
      endpoint: string
      url: string | null
      tags: string[]
      concurrency: number
      steps: HealthStep[]
    }
  >(
    {
      name: 'read_health_page',
      text: `
        select page.*, greatest(0, coalesce((extract(epoch from clock_timestamp() - page.oldest_due_at) * 1000)::float8, 0)) as oldest_due_ms,
               (
                 select coalesce(json_agg(json_build_object(
                   'startsAt', step.starts_at, 'attempts', step.attempts, 'successes', step.successes, 'throttled', step.throttled,
                   'durations', step.durations
                 )), '[]')
                 from holdfast_internal.sum_rollups_of_lane(page.lane_id, 2::smallint, now() - interval '24 hours', interval '1 hour') as step
               ) as steps
        from holdfast_internal.endpoint_health_page($1, $2, $3, $4, $5, $6) as page`,
    },
    [afterName, limit, nameHas, tag, state, isTroubled],
  )
  return rows.map((row) => ({
    name: row.endpoint,
    url: row.url,
    tags: row.tags,
    concurrency: row.concurrency,
    steps: row.steps,
    ...toHealth(row),
  }))
}
