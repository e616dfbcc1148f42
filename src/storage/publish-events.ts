import type { Queryable } from './queryable.ts'

export interface AcceptedEvent {
  readonly messageId: number
  /** Number of deliveries created; 0 if no route matches, and the event is stored as unrouted. */
  readonly deliveries: number
  /** The number of these deliveries that wait because their endpoint is paused, disabled or rejecting. */
  readonly held: number
}

const accepted = 'select message_id::text, deliveries, held from holdfast_internal.accept_events'
const inArrays = `${accepted}($1::text[], $2::text[], $3::jsonb[], $4)`
/** Bodies are sent as lines of one text, so that the publisher needn't quote a thousand array elements. */
const inLines = `${accepted}(string_to_array($1, e'\\n'), string_to_array($2, e'\\n'), string_to_array($3, e'\\n', 'null')::jsonb[], $4)`

function lines(texts: readonly (string | null)[]): string {
  return texts.map((text) => text ?? 'null').join('\n')
}

/** Stores events and creates their deliveries, all or none. `areChecked`: the payloads were validated against their schemas. */
export async function publishEvents(
  queryable: Queryable,
  types: readonly string[],
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
  areChecked: boolean,
): Promise<AcceptedEvent[]> {
  const given = options?.map((each) => (each === null ? null : JSON.stringify(each))) ?? null
  // JSON.stringify writes no line breaks; JSON text from a caller may have some.
  const result = await queryable.query(
    bodies.some((body) => body.includes('\n'))
      ? { text: inArrays, values: [types, bodies, given, areChecked], rowMode: 'array' }
      : {
          text: inLines,
          values: [...[types, bodies].map(lines), given && lines(given), areChecked],
          rowMode: 'array',
        },
  )
  return (result.rows as [string, number, number][]).map(([messageId, deliveries, held]) => ({
    messageId: Number(messageId),
    deliveries,
    held,
  }))
}
