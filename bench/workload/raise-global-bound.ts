import { Client } from 'pg'

/** Keeps backpressure on, and above what a row lets wait: the setting that `HOLDFAST_MAX_PENDING` writes. */
export async function raiseGlobalBound(databaseUrl: string, maxPending: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    `update holdfast_internal.settings set value = to_jsonb($1::bigint) where name = 'max_pending'`,
    [maxPending],
  )
  await client.end()
}
