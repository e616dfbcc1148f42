import type { ClientBase } from 'pg'

/** Marks partitions that are past their retention; returns how many were newly marked. */
export async function markRetiring(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ marked: number }>(
    'select holdfast_internal.mark_retiring() as marked',
  )
  return rows[0]?.marked ?? 0
}

/** Oldest first; a few rows. */
export async function readRetiring(client: ClientBase): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select name from holdfast_internal.retiring_partitions order by from_id, name',
  )
  return rows.map(({ name }) => name)
}

/** Copies some of the partition's rows that are still needed. Indexes: see holdfast_internal.needed_messages. */
export async function keepNeeded(client: ClientBase, partition: string, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ kept: number }>(
    'select holdfast_internal.keep_needed($1, $2) as kept',
    [partition, maxRows],
  )
  return rows[0]?.kept ?? 0
}

/** Waits for sessions that read the partition, up to the lock timeout. */
export async function emptyPartition(client: ClientBase, partition: string): Promise<void> {
  await client.query('select holdfast_internal.empty_partition($1)', [partition])
}

/** Publishers queue behind a session that waits for a lock on the whole table, so the wait is short. */
const removeLockTimeoutMs = 200

/** Waits briefly for sessions that read or write the whole table. */
export async function removePartition(client: ClientBase, partition: string): Promise<void> {
  await client.query(`set local lock_timeout = ${removeLockTimeoutMs}`)
  await client.query('select holdfast_internal.remove_partition($1)', [partition])
}

export async function purgeArchive(client: ClientBase, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ purged: number }>(
    'select holdfast_internal.purge_archive($1) as purged',
    [maxRows],
  )
  return rows[0]?.purged ?? 0
}

/** Index: dead_letters_settled, dead_letters_state. */
export async function cleanupDeadLetters(client: ClientBase, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ removed: number }>('select holdfast.cleanup_dlq($1) as removed', [
    maxRows,
  ])
  return rows[0]?.removed ?? 0
}

/** Whether a lock of another session caused the error. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: string }).code === '55P03'
}
