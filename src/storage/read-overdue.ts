import type { Database } from './database.ts'

/** A delivery that was pending for too long; read without its body, because nothing will be sent. */
export interface OverdueDelivery {
  readonly id: number
  readonly messageId: number
  readonly routeId: number | null
  readonly attempt: number
  readonly criticality: number
  readonly orderingKey: string | null
  readonly isExpired: boolean
}

/**
 * Deliveries to end although their lane sends nothing at the moment: expired ones, and those pending since before `giveUpBeforeMs`. `giveUpBeforeId`
 * bounds the scan: an id is never younger than its delivery. Index columns are compared as whole rows, as in read-deliveries.ts: with plain
 * equalities a plan for all lanes scans the primary key through all lanes' old deliveries.
 * Indexes: deliveries_expiring, deliveries_ready.
 */
export async function readOverdue(
  database: Database,
  lane: { readonly id: number; readonly giveUpBeforeMs: number; readonly giveUpBeforeId: number },
  maxRows: number,
): Promise<OverdueDelivery[]> {
  return database.query<OverdueDelivery>(
    {
      name: 'read_overdue',
      text: `
        select id, message_id as "messageId", route_id as "routeId", attempt, criticality, ordering_key as "orderingKey",
               coalesce(expires_at <= now(), false) as "isExpired"
        from (
          (select * from holdfast_internal.deliveries where lane_id = $1 and expires_at <= now() limit $4)
          union
          (select line.* from generate_series(0, 3) as level cross join lateral (
            select * from holdfast_internal.deliveries as old
            where old.lane_id <= $1 and (old.lane_id, old.priority, old.id) > ($1, level, 0::bigint) and (old.lane_id, old.priority, old.id) < ($1, level, $3)
            order by old.lane_id, old.priority, old.id limit $4
          ) as line where coalesce(line.owed_at, holdfast_internal.time_of_id(line.id)) <= to_timestamp($2::float8 / 1000))
        ) as overdue
        order by id limit $4`,
    },
    [lane.id, lane.giveUpBeforeMs, lane.giveUpBeforeId, maxRows],
  )
}
