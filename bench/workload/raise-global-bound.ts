import { Client } from 'pg'

/** Keeps backpressure on, with a limit above the row's backlog: changes the setting of `HOLDFAST_MAX_PENDING`. */
export async function raiseGlobalBound(databaseUrl: string, maxPending: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    `update holdfast_internal.settings set value = to_jsonb($1::bigint) where name = 'max_pending'`,
    [maxPending],
  )
  await client.end()
}
