import { Client } from 'pg'

/** Bytes on disk per message, including indexes and TOAST: of the two archive tables and of the pending deliveries. */
export async function storedBytes(databaseUrl: string, messages: number): Promise<Record<string, number>> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; bytes: number }>(
      `select name, sum(pg_total_relation_size(coalesce(part.relid, whole)))::float8 as bytes
       from (values ('messages'), ('attempts'), ('deliveries')) as known (name)
       cross join lateral (select format('holdfast_internal.%I', name)::regclass as whole) as named
       left join lateral pg_partition_tree(whole) as part on part.isleaf
       group by name`,
    )
    return Object.fromEntries(rows.map(({ name, bytes }) => [`${name}Bytes`, bytes / messages]))
  } finally {
    await client.end()
  }
}
