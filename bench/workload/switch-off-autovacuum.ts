import { Client } from 'pg'

/** Switches autovacuum off, so that the planner keeps the statistics of the empty tables. Later partitions and tables keep the server's setting. */
export async function switchOffAutovacuum(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relkind = 'r' and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
         and relnamespace::regnamespace::text !~ '^pg_'`,
    )
    for (const { name } of rows) await client.query(`alter table ${name} set (autovacuum_enabled = off)`)
  } finally {
    await client.end()
  }
}

/** Vacuums every table, as autovacuum would during an idle night; empty tables release their pages. */
export async function vacuumAll(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('vacuum')
  } finally {
    await client.end()
  }
}
