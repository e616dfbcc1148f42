import type { QueryResultRow } from 'pg'
import { HoldfastError } from '../core/errors.ts'
import { readMigrations } from './migration-files.ts'

/** PostgreSQL 15.0, as `server_version_num` writes it. */
const oldestServerVersion = 150_000

/** A pool, a client, or either under a deadline. */
export interface Queryable {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as pg has it
  query<Row extends QueryResultRow>(text: string): Promise<{ readonly rows: Row[] }>
}

export interface AppliedMigration {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

/** Throws unless a server with this `server_version_num` is supported. */
export function checkServerVersion(versionNumber: number): void {
  if (versionNumber >= oldestServerVersion) return
  const version = `${Math.trunc(versionNumber / 10_000)}.${versionNumber % 10_000}`
  throw new HoldfastError(
    'server_too_old',
    `The server runs PostgreSQL ${version}; Holdfast needs 15 or newer. Upgrade the server, or name another one.`,
    { versionNumber },
  )
}

export async function assertServerVersion(database: Queryable): Promise<void> {
  const { rows } = await database.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  )
  checkServerVersion(rows[0]?.version ?? 0)
}

/** The recorded migrations by number; none when the schema doesn't exist yet. */
export async function readAppliedMigrations(database: Queryable): Promise<AppliedMigration[]> {
  const found = await database.query<{ exists: boolean }>(
    `select to_regclass('holdfast.migrations') is not null as exists`,
  )
  if (found.rows[0]?.exists !== true) return []
  const { rows } = await database.query<AppliedMigration>(
    'select number, name, checksum from holdfast.migrations order by number',
  )
  return rows
}

/** The number of the newest applied migration; 0 on a database that was never migrated. */
export async function readSchemaNumber(database: Queryable): Promise<number> {
  return (await readAppliedMigrations(database)).at(-1)?.number ?? 0
}

/** Throws unless the server is new enough and its schema is the one that this code was written for. */
export async function assertSchema(
  database: Queryable,
  options: { migrationsDir?: string } = {},
): Promise<void> {
  await assertServerVersion(database)
  const known = (await readMigrations(options.migrationsDir)).length
  const schemaNumber = await readSchemaNumber(database)
  if (schemaNumber === known) return
  const details = { schemaNumber, known }
  if (schemaNumber > known) {
    throw new HoldfastError(
      'schema_too_new',
      `The database's schema is at ${schemaNumber}, this version of Holdfast knows ${known}. Upgrade Holdfast.`,
      details,
    )
  }
  const state = schemaNumber === 0 ? 'has no Holdfast schema yet' : `is at schema ${schemaNumber} of ${known}`
  throw new HoldfastError('not_migrated', `The database ${state}. Run \`holdfast migrate\`.`, details)
}
