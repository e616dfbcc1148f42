import { closePool, createPool } from '../../postgres/pool.ts'
import { Database } from '../../storage/database.ts'

const connectTimeoutMs = 10_000
const deadlineMs = 15_000
const closeDeadlineMs = 5000

/** Opens a few connections for one short task. Uses no prepared statements, so that it works through a pooling proxy. */
export async function withDatabase<Result>(
  connectionString: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const applicationName = 'holdfast-cli'
  const pool = createPool({ connectionString, max: 2, applicationName, connectTimeoutMs, deadlineMs })
  try {
    return await work(new Database({ pool, preparesStatements: false, deadlineMs }))
  } finally {
    await closePool(pool, closeDeadlineMs)
  }
}
