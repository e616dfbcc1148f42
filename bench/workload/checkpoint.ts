import { Client } from 'pg'

/** Filling a queue of a million writes a lot, and the checkpoint of that isn't the business of what is measured next. */
export async function checkpoint(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('checkpoint')
  await client.end()
}
