import type { Database } from './database.ts'

/** Returns the new deliveries. Indexes: messages_pkey, attempts_message, dead_letters_message. */
export async function replayMessage(
  database: Database,
  id: string,
  target: { readonly targetEndpoint?: string; readonly targetRoute?: string },
  actor: string,
): Promise<readonly string[]> {
  const rows = await database.queryArrays<[string]>(
    { name: 'replay_message', text: 'select holdfast.replay_message($1, $2, $3, $4)' },
    [id, target.targetEndpoint ?? null, actor, target.targetRoute ?? null],
  )
  return rows.map(([delivery]) => delivery)
}
