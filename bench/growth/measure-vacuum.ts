import { Client } from 'pg'
import { serverProcessorTime } from '../workload/processor-time.ts'

/** CPU milliseconds that PostgreSQL needs to vacuum and analyse every table: what autovacuum would have used during the measurement. */
export async function measureVacuum(databaseUrl: string): Promise<number> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const session = rows[0]?.pid ?? 0
    const beforeMs = serverProcessorTime(session)
    await client.query('vacuum analyze')
    return serverProcessorTime(session) - beforeMs
  } finally {
    await client.end()
  }
}
