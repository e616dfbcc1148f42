import type { Database } from '../../storage/database.ts'

export interface ServerFacts {
  readonly version: string
  readonly versionNumber: number
  readonly isRecovering: boolean
  readonly hasFsync: boolean
  readonly synchronousCommit: string
}

export async function readServer(database: Database): Promise<ServerFacts> {
  const [row] = await database.query<ServerFacts>(
    {
      name: 'read_server',
      text: `
        select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
               pg_is_in_recovery() as "isRecovering", current_setting('fsync')::boolean as "hasFsync",
               current_setting('synchronous_commit') as "synchronousCommit"`,
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
