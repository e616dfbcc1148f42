import type { Queryable } from '../schema.ts'
import type { SourceKind } from './source-files.ts'

export interface RecordedSource extends Named {
  readonly checksum: string
}

export interface Named {
  readonly kind: SourceKind
  readonly name: string
  readonly table: string | null
}

export async function readRecorded(database: Queryable): Promise<Map<string, RecordedSource>> {
  const { rows } = await database.query<RecordedSource>(
    'select kind, name, "table", checksum from holdfast_internal.sources order by kind, name',
  )
  return new Map(rows.map((row) => [row.name, row]))
}

/** Bounded by the number of objects in our two schemas. */
export async function readPresent(database: Queryable): Promise<Set<string>> {
  const { rows } = await database.query<{ name: string }>(`
    with ours as (select oid, nspname from pg_namespace where nspname in ('holdfast', 'holdfast_internal'))
    select nspname || '.' || proname as name from pg_proc join ours on ours.oid = pronamespace
    union all
    select nspname || '.' || relname from pg_class join ours on ours.oid = relnamespace where relkind = 'v'
    union all
    select nspname || '.' || tgname from pg_trigger join pg_class on pg_class.oid = tgrelid join ours on ours.oid = relnamespace
    where not tgisinternal`)
  return new Set(rows.map(({ name }) => name))
}
