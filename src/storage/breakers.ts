import type { Database } from './database.ts'
import type { LaneRun } from './settle.ts'

/** Counts the result of a synchronous request. No lease is needed: the row's version is the guard. Index: breakers_pkey. */
export async function recordRequestRun(
  database: Database,
  laneId: number,
  circuit: LaneRun['circuit'],
  run: LaneRun['run'],
): Promise<void> {
  await database.query(
    {
      name: 'record_request_run',
      text: `
        with recorded as (select holdfast.record_run($1, $2, $3, null, null, 'request') as is_changed)
        select pg_notify('holdfast_lanes', $1::text) from recorded where is_changed`,
    },
    [laneId, JSON.stringify(circuit), JSON.stringify(run)],
  )
}

/** Index: endpoints_name_key. */
export async function resetCircuit(database: Database, name: string, actor: string): Promise<void> {
  await database.query({ name: 'reset_circuit', text: 'select holdfast.reset_circuit_breaker($1, $2)' }, [
    name,
    actor,
  ])
}

/** Index: endpoints_name_key. */
export async function setEndpointState(
  database: Database,
  name: string,
  state: 'active' | 'paused' | 'disabled',
  reason: string | null,
  actor: string,
): Promise<void> {
  await database.query(
    { name: 'set_endpoint_state', text: 'select holdfast.set_endpoint_state($1, $2, $3, $4)' },
    [name, state, reason, actor],
  )
}
