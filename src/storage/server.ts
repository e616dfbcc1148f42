import type { Database } from './database.ts'

export interface ServerFacts {
  readonly version: string
  readonly versionNumber: number
  readonly isRecovering: boolean
  readonly hasFsync: boolean
  readonly synchronousCommit: string
  readonly startedAt: Date
  /** Sessions of all users, as counted in the statistics of this database, and how many the server allows. */
  readonly connections: number
  readonly maxConnections: number
}

/** Reads no Holdfast table, so it works before they exist. */
export async function readServer(database: Database): Promise<ServerFacts> {
  const [row] = await database.query<ServerFacts>(
    {
      name: 'read_server',
      text: `
        select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
               pg_is_in_recovery() as "isRecovering", current_setting('fsync')::boolean as "hasFsync",
               current_setting('synchronous_commit') as "synchronousCommit", pg_postmaster_start_time() as "startedAt",
               pg_stat_get_db_numbackends(oid) as connections, current_setting('max_connections')::int as "maxConnections"
        from pg_database where datname = current_database()`,
    },
    [],
  )
  if (row === undefined) throw new Error('PostgreSQL returned no row about itself')
  return row
}

/** The database's clock in milliseconds since 1970. */
export async function readClock(database: Database): Promise<number> {
  const [row] = await database.query<{ nowMs: number }>(
    {
      name: 'read_clock',
      text: `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`,
    },
    [],
  )
  return row?.nowMs ?? Number.NaN
}

export interface TableRow {
  readonly name: string
  /** For a partition: its parent table, and the period of its rows; null for the default partition, which has the remaining rows. */
  readonly parent: string | null
  readonly from: Date | null
  readonly to: Date | null
  /** Includes its indexes. */
  readonly bytes: number
  /** PostgreSQL's estimates; null: never analysed. */
  readonly rows: number | null
  readonly deadRows: number
}

/**
 * Tables and partitions by name, after `afterName`. The sizes come from the file system, about 20 µs per table. Index: pg_class_relname_nsp_index.
 */
export async function readTables(database: Database, afterName: string, limit: number): Promise<TableRow[]> {
  return database.query<TableRow>(
    {
      name: 'read_tables',
      text: `
        select part.name, parent.relname::text as parent,
               holdfast_internal.time_of_id(bounds[1]::bigint) as "from", holdfast_internal.time_of_id(bounds[2]::bigint) as "to",
               pg_total_relation_size(part.oid)::float8 as bytes, case when part.reltuples >= 0 then part.reltuples::float8 end as rows,
               coalesce(pg_stat_get_dead_tuples(part.oid), 0)::float8 as "deadRows"
        from (
          select oid, relname::text as name, reltuples, relpartbound from pg_class
          where relname > $1::name and relnamespace = 'holdfast_internal'::regnamespace and relkind = 'r'
          order by relname limit $2
        ) as part
        left join pg_inherits as link on link.inhrelid = part.oid
        left join pg_class as parent on parent.oid = link.inhparent
        left join lateral regexp_match(pg_get_expr(part.relpartbound, part.oid), $bound$FROM \\('?(\\d+)'?\\) TO \\('?(\\d+)'?\\)$bound$) as bounds on true
        order by part.name collate "C"`,
    },
    [afterName, limit],
  )
}

/** Size of the whole database: one read of its directory. */
export async function readDatabaseBytes(database: Database): Promise<number> {
  const [row] = await database.query<{ bytes: number }>(
    { name: 'read_database_bytes', text: 'select pg_database_size(current_database())::float8 as bytes' },
    [],
  )
  return row?.bytes ?? 0
}
