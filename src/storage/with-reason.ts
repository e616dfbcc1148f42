import type { Database } from './database.ts'

/**
 * Stores a reason with the entries that `work` adds to the audit log: see holdfast_internal.audit. Uses one transaction, because the setting is local
 * to it. The setting is reset at the end, because a caller's transaction may continue.
 */
export async function withReason<Result>(
  database: Database,
  reason: string | undefined,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  if (reason === undefined) return work(database)
  return database.asOne(async (inside) => {
    await setReason(inside, reason)
    const result = await work(inside)
    await setReason(inside, '')
    return result
  })
}

async function setReason(database: Database, reason: string): Promise<void> {
  await database.query({ name: 'set_reason', text: `select set_config('holdfast.reason', $1, true)` }, [
    reason,
  ])
}
