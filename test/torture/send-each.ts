import type { PoolClient } from 'pg'
import type { BatchMessage } from '../../src/index.ts'

/** One statement a message, in the transaction that this client is in; the ids are added as they come. */
export async function sendEach(
  client: PoolClient,
  endpoint: string,
  messages: readonly BatchMessage[],
  ids: string[],
): Promise<void> {
  for (const { payload, ...options } of messages) {
    const { rows } = await client.query<{ id: string }>('select holdfast.send($1, $2, $3) as id', [
      endpoint,
      JSON.stringify(payload),
      JSON.stringify(options),
    ])
    if (rows[0] !== undefined) ids.push(rows[0].id)
  }
}
