import type { Database } from './database.ts'

/** The new deliveries. Indexes: messages_pkey, attempts_message, dead_letters_message. */
export async function replayMessage(
  database: Database,
  id: string,
  targetEndpoint: string | null,
  actor: string,
): Promise<readonly string[]> {
  const rows = await database.queryArrays<[string]>(
    { name: 'replay_message', text: 'select holdfast.replay_message($1, $2, $3)' },
    [id, targetEndpoint, actor],
  )
  return rows.map(([delivery]) => delivery)
}
