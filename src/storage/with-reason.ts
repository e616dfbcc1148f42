import type { Database } from './database.ts'

/**
 * Stores a reason with the entries that `work` adds to the audit log: see holdfast_internal.audit. It is one transaction, because the setting lasts as long as
 * one, and is reset at its end, because the transaction may be a caller's that continues.
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
