import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

export interface InFlight {
  readonly id: number
  /** How long the delivery has been in flight. */
  readonly ageMs: number
}

/** Replaces the list of deliveries that this incarnation has in flight. Index: in_flight_pkey. */
export async function noteInFlight(
  database: Database,
  incarnation: number,
  entries: readonly InFlight[],
): Promise<void> {
  await database.query(
    { name: 'note_in_flight', text: 'select holdfast_internal.note_in_flight($1, $2, $3)' },
    [
      incarnation,
      numberArray(entries.map(({ id }) => id)),
      numberArray(entries.map(({ ageMs }) => Math.max(0, Math.round(ageMs)))),
    ],
  )
}
