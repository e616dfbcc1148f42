import { Client } from 'pg'
import { makePayload } from '../workload/payload.ts'

const CONNECTIONS = 2
const CHUNK_ROWS = 250_000

/** Ids come from the same sequence as in publishing. */
const FILL = `
  with stored as (
    insert into holdfast_internal.messages (id, size, type, tenant, body)
    select nextval('holdfast_internal.ids'), octet_length($3), $4, $1, $3::json from generate_series(1, $2::int)
    returning id, size
  )
  insert into holdfast_internal.deliveries (id, message_id, lane_id, size)
  select stored.id, stored.id, endpoint.id, stored.size from stored, holdfast_internal.endpoints as endpoint where endpoint.name = $1`

/** Stores waiting messages for one endpoint in a few SQL statements: publishing five million would take longer than the measurement. */
export async function fillBacklog(
  databaseUrl: string,
  endpoint: string,
  eventType: string,
  count: number,
): Promise<void> {
  const body = JSON.stringify(makePayload(0))
  let left = count
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new Client({ connectionString: databaseUrl })
      await client.connect()
      try {
        await client.query('set synchronous_commit = off')
        await client.query('select holdfast_internal.prepare_ids()')
        while (left > 0) {
          const rows = Math.min(left, CHUNK_ROWS)
          left -= rows
          await client.query(FILL, [endpoint, rows, body, eventType])
        }
      } finally {
        await client.end()
      }
    }),
  )
}
