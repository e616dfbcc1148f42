import type { Sender } from './send-messages.ts'

export interface AcceptedEvent {
  readonly messageId: number
  /** How many deliveries it led to; 0 = nobody wants it, and it is kept as unrouted. */
  readonly deliveries: number
  /** Of those, how many wait because their endpoint is paused, disabled or rejecting. */
  readonly held: number
}

const accepted = 'select message_id::text, deliveries, held from holdfast_internal.accept_events'
const inArrays = `${accepted}($1::text[], $2::text[], $3::jsonb[], $4)`
/** Lines of one text spare the publisher quoting a thousand array elements. */
const inLines = `${accepted}(string_to_array($1, e'\\n'), string_to_array($2, e'\\n'), string_to_array($3, e'\\n', 'null')::jsonb[], $4)`

function lines(texts: readonly (string | null)[]): string {
  return texts.map((text) => text ?? 'null').join('\n')
}

/** Stores events and fans them out, all or nothing. `areChecked`: the payloads were held against their schemas. */
export async function publishEvents(
  sender: Sender,
  types: readonly string[],
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
  areChecked: boolean,
): Promise<AcceptedEvent[]> {
  const given = options?.map((each) => (each === null ? null : JSON.stringify(each))) ?? null
  // JSON.stringify writes no line break; text that a person wrote may have some.
  const result = await sender.query(
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
