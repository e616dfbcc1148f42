import type { Database } from './database.ts'

/** Attaching waits for whoever reads the default partition; others queue behind a waiter, so it gives up soon and tries again later. */
const lockTimeoutMs = 2000

/** Makes the partitions of this month and the next ones where they are missing. Usually there is nothing to do. */
export async function maintainPartitions(database: Database, monthsAhead: number): Promise<void> {
  await database.inTransaction(async (client) => {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
    await client.query('select holdfast.maintain_partitions($1)', [monthsAhead])
  })
}
