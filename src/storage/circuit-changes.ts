import type { Database } from './database.ts'

export interface CircuitChangeRow {
  readonly id: number
  readonly at: Date
  readonly endpoint: string | null
  readonly from: 'closed' | 'open' | 'half_open'
  readonly to: 'closed' | 'open' | 'half_open'
  readonly actor: string
  readonly probes: number
  readonly lastProbeAt: Date | null
}

const columns = `change.id, change.at, (select name from holdfast_internal.endpoints where id = change.lane_id) as endpoint, change.from_state as "from",
  change.to_state as "to", change.actor, change.probes, change.last_probe_at as "lastProbeAt"`

/** Changes with ids below the given one, the newest first. Index: circuit_changes_pkey. */
export async function listCircuitChanges(
  database: Database,
  beforeId: number,
  limit: number,
): Promise<CircuitChangeRow[]> {
  return database.query<CircuitChangeRow>(
    {
      name: 'list_circuit_changes',
      text: `
        select ${columns} from holdfast_internal.circuit_changes as change where change.id < $1 order by change.id desc limit $2`,
    },
    [beforeId, limit],
  )
}

/** Changes of one endpoint, the newest first; undefined: there is no such endpoint. Index: circuit_changes_lane. */
export async function listCircuitChangesOf(
  database: Database,
  endpoint: string,
  beforeId: number,
  limit: number,
): Promise<CircuitChangeRow[] | undefined> {
  const [known] = await database.query<{ id: number }>(
    { name: 'read_lane_id', text: 'select id from holdfast_internal.endpoints where name = $1' },
    [endpoint],
  )
  if (known === undefined) return undefined
  return database.query<CircuitChangeRow>(
    {
      name: 'list_circuit_changes_of',
      text: `
        select ${columns} from holdfast_internal.circuit_changes as change
        where change.lane_id = $1 and change.id < $2 order by change.lane_id desc, change.id desc limit $3`,
    },
    [known.id, beforeId, limit],
  )
}
