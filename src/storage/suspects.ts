import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

export interface Suspect {
  readonly deliveryId: number
  readonly crashes: number
}

/** Deliveries of these shards that were in flight at earlier crashes. Few rows at any time; index: suspects_pkey. */
export async function readSuspects(database: Database, shards: readonly number[]): Promise<Suspect[]> {
  return database.query<Suspect>(
    {
      name: 'read_suspects',
      text: `select delivery_id as "deliveryId", crashes from holdfast_internal.suspects where (lane_id & 255) = any ($1::int[])`,
    },
    [shards],
  )
}

/** Index: suspects_pkey. */
export async function recordSuspects(
  database: Database,
  incarnation: number,
  deliveries: readonly { readonly id: number; readonly laneId: number }[],
): Promise<void> {
  await database.query(
    { name: 'record_suspects', text: 'select holdfast_internal.record_suspects($1, $2, $3)' },
    [
      incarnation,
      numberArray(deliveries.map((delivery) => delivery.id)),
      numberArray(deliveries.map((delivery) => delivery.laneId)),
    ],
  )
}

/** Index: suspects_pkey. */
export async function forgetSuspects(database: Database, deliveryIds: readonly number[]): Promise<void> {
  await database.query(
    {
      name: 'forget_suspects',
      text: 'delete from holdfast_internal.suspects where delivery_id = any ($1::bigint[])',
    },
    [numberArray(deliveryIds)],
  )
}

export async function clearSuspicion(
  database: Database,
  incarnation: number,
  shards: readonly number[],
): Promise<void> {
  await database.query(
    { name: 'clear_suspicion', text: 'select holdfast_internal.clear_suspicion($1, $2)' },
    [incarnation, shards],
  )
}
