import type { Database } from './database.ts'
import type { LaneTally } from './settle.ts'

/** Counts the result of a synchronous request. No lease is needed: the row's version guards the update. Index: breakers_pkey. */
export async function recordRequestTally(
  database: Database,
  laneId: number,
  circuit: LaneTally['circuit'],
  tally: LaneTally['tally'],
): Promise<void> {
  await database.query(
    {
      name: 'record_request_run',
      text: `
        with recorded as (select holdfast_internal.record_tally($1, $2, $3, null, null, 'request') as is_changed)
        select holdfast_internal.notify('holdfast_lanes', $1::text) from recorded where is_changed`,
    },
    [laneId, JSON.stringify(circuit), JSON.stringify(tally)],
  )
}

/** Index: endpoints_name_key. */
export async function resetCircuit(database: Database, name: string, actor: string): Promise<void> {
  await database.query({ name: 'reset_circuit', text: 'select holdfast.reset_circuit_breaker($1, $2)' }, [
    name,
    actor,
  ])
}

/** Resets circuits that aren't closed, and holds. Index: breakers_pkey; reads the whole table, because resetting all circuits is rare. */
export async function resetAllCircuits(
  database: Database,
  tag: string | null,
  actor: string,
): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    {
      name: 'reset_all_circuits',
      text: `
        with reset as materialized (
          select endpoint.name, holdfast.reset_circuit_breaker(endpoint.name, $2) as is_reset
          from holdfast_internal.endpoints as endpoint join holdfast_internal.breakers as breaker on breaker.lane_id = endpoint.id
          where (breaker.state <> 'closed' or breaker.held_until > now()) and ($1::text is null or $1 = any (endpoint.tags))
          order by endpoint.name
        ), noted as materialized (
          select array(select name from reset order by name) as names,
                 holdfast_internal.audit($2, 'circuits.reset', 'endpoints',
                   jsonb_strip_nulls(jsonb_build_object('tag', $1::text, 'count', (select count(*) from reset))))
        )
        select unnest(names) as name from noted`,
    },
    [tag, actor],
  )
  return rows.map(({ name }) => name)
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
