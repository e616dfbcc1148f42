import type { Sender } from './send-messages.ts'

export interface AcceptedEvent {
  readonly messageId: number
  /** How many deliveries it led to; 0 = nobody wants it, and it is kept as unrouted. */
  readonly deliveries: number
  /** Of those, how many wait because their endpoint is paused, disabled or rejecting. */
  readonly held: number
}

/** Stores events and fans them out, all or nothing. `areChecked`: the payloads were held against their schemas. */
export async function publishEvents(
  sender: Sender,
  types: readonly string[],
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
  areChecked: boolean,
): Promise<AcceptedEvent[]> {
  const result = await sender.query({
    text: `select message_id::text, deliveries, held from holdfast_internal.accept_events($1::text[], $2::text[], $3::jsonb[], $4)`,
    values: [
      types,
      bodies,
      options === null ? null : options.map((each) => (each === null ? null : JSON.stringify(each))),
      areChecked,
    ],
    rowMode: 'array',
  })
  return (result.rows as [string, number, number][]).map(([messageId, deliveries, held]) => ({
    messageId: Number(messageId),
    deliveries,
    held,
  }))
}
