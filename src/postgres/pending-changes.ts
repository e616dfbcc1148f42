import { HoldfastError } from '../core/errors.ts'
import {
  type AppliedMigration,
  assertServerVersion,
  hasSources,
  type Queryable,
  readAppliedSchema,
  type SchemaFolders,
} from './schema.ts'
import { readSources, type SourceSet } from './sources/source-files.ts'
import { readPresent, readRecorded } from './sources/stored-sources.ts'
import { type Migration, readMigrations } from './table-files.ts'

/** The changes that `migrate` would make to a database, in their order. */
export interface PendingChanges {
  readonly isUpToDate: boolean
  /** The newest table change that the database has; 0: it was never migrated. */
  readonly schemaNumber: number
  /** The newest table change that this version has. */
  readonly targetNumber: number
  /** Names of the table files to apply. */
  readonly tables: readonly string[]
  /** Functions, views and triggers. */
  readonly created: readonly string[]
  readonly replaced: readonly string[]
  readonly dropped: readonly string[]
}

/** Compares the database with the files and changes nothing. Throws if this version can't migrate the database at all. */
export async function findPendingChanges(
  database: Queryable,
  folders: SchemaFolders = {},
): Promise<PendingChanges> {
  await assertServerVersion(database)
  const migrations = await readMigrations(folders.tablesDir)
  const set = await readSources(folders.functionsDir)
  const applied = await readAppliedSchema(database)
  assertUnchanged(migrations, applied.migrations)
  const schemaNumber = applied.migrations.at(-1)?.number ?? 0
  const tables = migrations.slice(schemaNumber).map(({ name }) => name)
  const sources =
    tables.length === 0 && hasSources(applied, set)
      ? { created: [], replaced: [], dropped: [] }
      : await compareSources(database, set, schemaNumber > 0)
  const isUpToDate = [tables, ...Object.values(sources)].every(({ length }) => length === 0)
  return { isUpToDate, schemaNumber, targetNumber: migrations.length, tables, ...sources }
}

async function compareSources(
  database: Queryable,
  set: SourceSet,
  hasRecords: boolean,
): Promise<Pick<PendingChanges, 'created' | 'replaced' | 'dropped'>> {
  const recorded = hasRecords ? await readRecorded(database) : new Map<string, { checksum: string }>()
  const present = await readPresent(database)
  const wanted = new Set(set.sources.map(({ name }) => name))
  const changed = set.sources.filter(
    ({ name, checksum }) => present.has(name) && recorded.get(name)?.checksum !== checksum,
  )
  return {
    created: set.sources.filter(({ name }) => !present.has(name)).map(({ name }) => name),
    replaced: changed.map(({ name }) => name),
    dropped: [...recorded.keys()].filter((name) => !wanted.has(name) && present.has(name)),
  }
}

/** Throws if the recorded migrations are not a prefix of ours. */
export function assertUnchanged(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): void {
  for (const [index, record] of applied.entries()) {
    const migration = migrations[index]
    if (record.number !== index + 1) {
      throw new HoldfastError(
        'configuration_invalid',
        `holdfast_internal.migrations has no row for migration ${index + 1} but one for ${record.number}. ` +
          'Restore the table from a backup; rows are only ever added to it.',
        { number: record.number },
      )
    }
    if (migration === undefined) {
      throw new HoldfastError(
        'schema_too_new',
        `The database's schema is at ${applied.at(-1)?.number}, but this version of Holdfast only has migrations up to ${migrations.length}. ` +
          'Use the newer version that migrated it.',
        { schemaNumber: applied.at(-1)?.number, known: migrations.length },
      )
    }
    if (migration.checksum !== record.checksum) {
      throw new HoldfastError(
        'configuration_invalid',
        `Migration ${record.name} was changed after it had been applied to this database. ` +
          'Restore the file, and put the change into a new migration.',
        { migration: record.name },
      )
    }
  }
}
