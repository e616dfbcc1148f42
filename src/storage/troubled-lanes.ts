import type { Database } from './database.ts'

export interface TroubledLane {
  readonly endpoint: string
  readonly state: 'paused' | 'rejecting' | 'disabled' | 'held' | 'open'
  readonly reason: string | null
}

/** Endpoints whose deliveries wait, by name; at most fifty. Scans endpoints and breakers, which have one row per endpoint. */
export async function readTroubledLanes(database: Database): Promise<TroubledLane[]> {
  return database.query<TroubledLane>(
    {
      name: 'read_troubled_lanes',
      text: `
        select endpoint.name as endpoint, coalesce(endpoint.state_reason, breaker.hold_reason) as reason,
               case when endpoint.state <> 'active' then endpoint.state
                    when breaker.hold_reason is not null or breaker.held_until > now() then 'held' else 'open' end as state
        from holdfast_internal.endpoints as endpoint left join holdfast_internal.breakers as breaker on breaker.lane_id = endpoint.id
        where endpoint.state <> 'active' or breaker.hold_reason is not null or breaker.held_until > now()
           or breaker.state in ('open', 'half_open')
        order by endpoint.name limit 50`,
    },
    [],
  )
}
