import type { Database } from '../../storage/database.ts'

export interface Rights {
  readonly role: string
  readonly hasSchema: boolean
  /** May create the schema, which the first migration does. */
  readonly canCreateSchema: boolean
  /** Owns the schema, which later migrations need. */
  readonly ownsSchema: boolean
  /** Tables of ours that the role can't read and write in full; at most five. */
  readonly deniedTables: readonly string[]
}

/** Bounded by the number of our tables, partitions included. */
export async function readRights(database: Database): Promise<Rights> {
  const [row] = await database.query<Rights>(
    {
      name: 'read_rights',
      text: `
        select current_user as role, ours.oid is not null as "hasSchema",
               has_database_privilege(current_database(), 'create') as "canCreateSchema",
               coalesce(pg_has_role(ours.nspowner, 'usage'), false) as "ownsSchema",
               array(
                 select owned.relname::text from pg_class as owned
                 where owned.relnamespace = ours.oid and owned.relkind in ('r', 'p') and not (
                   has_schema_privilege(ours.oid, 'usage')
                   and has_table_privilege(owned.oid, 'select') and has_table_privilege(owned.oid, 'insert')
                   and has_table_privilege(owned.oid, 'update') and has_table_privilege(owned.oid, 'delete')
                 )
                 order by 1 limit 5
               ) as "deniedTables"
        from (select 1) as always left join pg_namespace as ours on ours.nspname = 'holdfast_internal'`,
    },
    [],
  )
  if (row === undefined) throw new Error('PostgreSQL returned no row about rights')
  return row
}
