import type { PoolClient } from 'pg'

/** Erases data that was added to messages after their erasure; returns the number of messages. Index: audit_log_action. */
export async function eraseLate(client: PoolClient, maxMessages: number): Promise<number> {
  const { rows } = await client.query<{ found: number }>('select holdfast_internal.erase_late($1) as found', [
    maxMessages,
  ])
  return rows[0]?.found ?? 0
}
