import { Client } from 'pg'

/** Filling a queue with a million rows writes a lot; its checkpoint must not fall into the next measurement. */
export async function checkpoint(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('checkpoint')
  await client.end()
}
