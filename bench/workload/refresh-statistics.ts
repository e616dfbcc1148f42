import { Client } from 'pg'

/**
 * Does what autovacuum does within a minute of a bulk load. Without it a queue that was just filled is planned as if it were empty, and the planner
 * is measured instead of the contender: graphile-worker processed 14 k/s before it and 37 k/s after.
 */
export async function refreshStatistics(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('vacuum analyze')
  await client.end()
}
