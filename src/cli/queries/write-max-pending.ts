import type { Database } from '../../storage/database.ts'

/** The bound on what is owed holds for everybody who publishes, so it lives in the database. Index: settings_pkey. */
export async function writeMaxPending(database: Database, maxPending: number): Promise<void> {
  await database.query(
    {
      name: 'write_max_pending',
      text: `
        insert into holdfast_internal.settings (name, value) values ('max_pending', to_jsonb($1::bigint))
        on conflict (name) do update set value = excluded.value where settings.value <> excluded.value`,
    },
    [maxPending],
  )
}
