import type { PoolClient } from 'pg'

/** How many erased messages had received new data since. Index: audit_log_action. */
export async function eraseLate(client: PoolClient, maxMessages: number): Promise<number> {
  const { rows } = await client.query<{ found: number }>('select holdfast_internal.erase_late($1) as found', [
    maxMessages,
  ])
  return rows[0]?.found ?? 0
}
