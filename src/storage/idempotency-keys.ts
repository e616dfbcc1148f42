import type { ClientBase } from 'pg'

/** Deletes expired keys; returns how many. Index: idempotency_keys_expiry. */
export async function purgeIdempotencyKeys(client: ClientBase, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ purged: number }>(
    'select holdfast_internal.purge_idempotency_keys($1) as purged',
    [maxRows],
  )
  return rows[0]?.purged ?? 0
}
