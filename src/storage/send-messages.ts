/** Anything that can run a query: our pool, or the caller's own client inside the caller's own transaction. */
export interface Sender {
  query(query: { text: string; values: unknown[]; rowMode: 'array' }): Promise<{ rows: unknown[] }>
}

export interface AcceptedMessage {
  readonly messageId: number
  readonly deliveryId: number
}

/**
 * Stores messages for one endpoint, all or nothing. The ids come back as text on purpose: the caller's client parses
 * bigint its own way.
 */
export async function sendMessages(
  sender: Sender,
  endpoint: string,
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
): Promise<AcceptedMessage[]> {
  const result = await sender.query({
    text: `select message_id::text, delivery_id::text from holdfast.accept_messages($1, $2::text[], $3::jsonb[])`,
    values: [
      endpoint,
      bodies,
      options === null ? null : options.map((each) => (each === null ? null : JSON.stringify(each))),
    ],
    rowMode: 'array',
  })
  return (result.rows as [string, string][]).map(([messageId, deliveryId]) => ({
    messageId: Number(messageId),
    deliveryId: Number(deliveryId),
  }))
}
