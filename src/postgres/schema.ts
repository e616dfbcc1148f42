import type { QueryResultRow } from 'pg'
import { HoldfastError } from '../core/errors.ts'
import { readSources, type SourceSet } from './sources/source-files.ts'
import { readMigrations } from './table-files.ts'

/** PostgreSQL 15.0, in the format of `server_version_num`. */
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

/** Throws unless the server version (`server_version_num`) is supported. */
export function checkServerVersion(versionNumber: number): void {
  if (versionNumber >= oldestServerVersion) return
  const version = `${Math.trunc(versionNumber / 10_000)}.${versionNumber % 10_000}`
  throw new HoldfastError(
    'server_too_old',
    `The server runs PostgreSQL ${version}; Holdfast needs 15 or newer. Upgrade the server, or use another one.`,
    { versionNumber },
  )
}

export async function assertServerVersion(database: Queryable): Promise<void> {
  const { rows } = await database.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  )
  checkServerVersion(rows[0]?.version ?? 0)
}

/** The state of the schema in a database. */
export interface AppliedSchema {
  /** Ordered by number; empty if the schema doesn't exist yet. */
  readonly migrations: readonly AppliedMigration[]
  /** The functions, views and triggers; null if they were never applied. */
  readonly sources: { readonly revision: number; readonly checksum: string | null } | null
}

export async function readAppliedSchema(database: Queryable): Promise<AppliedSchema> {
  const found = await database.query<{ exists: boolean; isPrerelease: boolean }>(
    `select to_regclass('holdfast_internal.source_revision') is not null as exists,
            to_regclass('holdfast.migrations') is not null as "isPrerelease"`,
  )
  if (found.rows[0]?.isPrerelease === true) {
    throw new HoldfastError(
      'configuration_invalid',
      "This database was created by a Holdfast version before 0.1, which can't be upgraded: use an empty database, " +
        'or delete everything that Holdfast has in this one with `drop schema holdfast cascade`, then run `holdfast migrate` ' +
        '(with the embedded server: stop it and delete its data folder, .holdfast).',
    )
  }
  if (found.rows[0]?.exists !== true) return { migrations: [], sources: null }
  const migrations = await database.query<AppliedMigration>(
    'select number, name, checksum from holdfast_internal.migrations order by number',
  )
  const sources = await database.query<{ revision: number; checksum: string | null }>(
    'select revision, checksum from holdfast_internal.source_revision',
  )
  return { migrations: migrations.rows, sources: sources.rows[0] ?? null }
}

/** The number of the newest applied migration; 0 on a database that was never migrated. */
export async function readSchemaNumber(database: Queryable): Promise<number> {
  return (await readAppliedSchema(database)).migrations.at(-1)?.number ?? 0
}

/**
 * Whether the functions in the database work with code written for `set`: they are the same or newer,
 * because the set of functions that nodes call only grows.
 */
export function hasSources(applied: AppliedSchema, set: SourceSet): boolean {
  if (applied.sources === null) return false
  return applied.sources.revision > set.revision || applied.sources.checksum === set.checksum
}

export interface SchemaFolders {
  readonly tablesDir?: string
  readonly functionsDir?: string
}

/** Throws unless the server is new enough and this code works with its schema. */
export async function assertSchema(database: Queryable, folders: SchemaFolders = {}): Promise<void> {
  await assertServerVersion(database)
  const known = (await readMigrations(folders.tablesDir)).length
  const applied = await readAppliedSchema(database)
  const schemaNumber = applied.migrations.at(-1)?.number ?? 0
  const details = { schemaNumber, known }
  if (schemaNumber > known) {
    throw new HoldfastError(
      'schema_too_new',
      `The database's schema is at ${schemaNumber}, but this version of Holdfast only has migrations up to ${known}. Upgrade Holdfast.`,
      details,
    )
  }
  if (schemaNumber < known) {
    const state =
      schemaNumber === 0 ? 'has no Holdfast schema yet' : `is at schema ${schemaNumber} of ${known}`
    throw new HoldfastError('not_migrated', `The database ${state}. Run \`holdfast migrate\`.`, details)
  }
  if (!hasSources(applied, await readSources(folders.functionsDir))) {
    throw new HoldfastError(
      'not_migrated',
      'The functions in the database are from another version. Run `holdfast migrate`.',
      details,
    )
  }
}
