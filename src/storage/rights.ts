import type { Database } from './database.ts'

export interface Rights {
  readonly role: string
  readonly hasSchema: boolean
  /** The role may create the schema, which the first migration does. */
  readonly canCreateSchema: boolean
  /** The schema's owner; the role itself if there is no schema yet. */
  readonly owner: string
  /** The role is the schema's owner, or a member of it: nodes and later migrations need this. */
  readonly ownsSchema: boolean
  /** Our tables that the role can't fully read and write; at most five. */
  readonly deniedTables: readonly string[]
  /** The rights that `grant_app`, `grant_monitor` and `grant_admin` have granted to the role. */
  readonly given: readonly string[]
  /** Other roles that can read or write API keys; at most five. */
  readonly strangers: readonly string[]
}

/** Bounded by the number of our tables, including partitions, and by the rights granted on one of them. */
export async function readRights(database: Database): Promise<Rights> {
  const [row] = await database.query<Rights>(
    {
      name: 'read_rights',
      text: `
        select current_user::text as role, ours.oid is not null as "hasSchema",
               has_database_privilege(current_database(), 'create') as "canCreateSchema",
               coalesce(pg_get_userbyid(ours.nspowner), current_user)::text as owner,
               coalesce(pg_has_role(ours.nspowner, 'usage'), false) as "ownsSchema",
               array(
                 select owned.relname::text from pg_class as owned
                 where owned.relnamespace = ours.oid and owned.relkind in ('r', 'p') and not (
                   has_schema_privilege(ours.oid, 'usage')
                   and has_table_privilege(owned.oid, 'select') and has_table_privilege(owned.oid, 'insert')
                   and has_table_privilege(owned.oid, 'update') and has_table_privilege(owned.oid, 'delete')
                 )
                 order by 1 limit 5
               ) as "deniedTables",
               array(
                 select substr(list.proname, length('rights_of_') + 1) from pg_proc as list
                 where list.pronamespace = ours.oid and list.proname in ('rights_of_app', 'rights_of_monitor', 'rights_of_admin')
                   and has_function_privilege(list.oid, 'execute')
                 order by 1
               ) as given,
               array(
                 select distinct stranger.rolname::text
                 from pg_class as keys cross join lateral aclexplode(keys.relacl) as entry join pg_roles as stranger on stranger.oid = entry.grantee
                 where keys.relnamespace = ours.oid and keys.relname = 'api_keys' and not pg_has_role(stranger.oid, keys.relowner, 'member')
                 order by 1 limit 5
               ) as strangers
        from (select 1) as always left join pg_namespace as ours on ours.nspname = 'holdfast_internal'`,
    },
    [],
  )
  if (row === undefined) throw new Error('PostgreSQL returned no row about rights')
  return row
}
