import type { Database } from './database.ts'

/** The contract's health of an endpoint. `pending` and `inFlight` are what its owner last reported, at most a second old. */
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

/** Undefined when there is no such endpoint. Indexes: endpoints_name_key and those of holdfast_internal.health_of. */
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
  const row = rows[0]
  if (row === undefined) return undefined
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
