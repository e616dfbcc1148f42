import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { HoldfastError } from '../core/errors.ts'
import { version } from '../version.ts'
import { isConnectionError } from './connection-error.ts'
import type { PostgresLogger } from './logger.ts'
import { assertUnchanged } from './pending-changes.ts'
import { closePool, createPool } from './pool.ts'
import { assertServerVersion, hasSources, readAppliedSchema, type SchemaFolders } from './schema.ts'
import { applySources } from './sources/apply-sources.ts'
import { readSources, type SourceSet } from './sources/source-files.ts'
import { type Migration, readMigrations } from './table-files.ts'

export interface MigrateOptions extends SchemaFolders {
  /** Apply the tables only up to this number, and no functions; default: everything is applied. */
  readonly toNumber?: number
  /** How long to wait for another process that migrates, or for a lock that a statement needs. */
  readonly lockTimeoutMs?: number
  /** The pause before the second try of a migration that conflicted with running nodes; each further pause is twice as long. */
  readonly firstPauseMs?: number
  readonly logger?: PostgresLogger
}

export interface MigrateResult {
  /** The names of the table changes that THIS call applied, in order. */
  readonly applied: readonly string[]
  /** The functions, views and triggers that THIS call created or replaced. */
  readonly sources: readonly string[]
  readonly schemaNumber: number
}

/** "holdfast" in ASCII, truncated: any constant works, as long as it never changes. */
const migrationLockKey = '7525343862814794611'

const defaultLockTimeoutMs = 60_000
const connectTimeoutMs = 10_000

/** The pauses between tries are half a second, one, two and four: a node's transactions are shorter than that. */
const maxTries = 5
const defaultFirstPauseMs = 500

/** A deadlock, a lock timeout, a serialization failure: a conflict with another session that may have ended by the next attempt. */
const passingCodes: ReadonlySet<unknown> = new Set(['40P01', '55P03', '40001'])

/** All migrations that a database must have. */
interface Wanted {
  readonly migrations: readonly Migration[]
  readonly set: SourceSet
}

/**
 * Brings the schema up to date: first the tables, each change in its own transaction, then all functions, views and triggers in one. Each transaction
 * takes the lock and then reads again what is applied, so ten processes that start at once share the work and none of it is done twice. The lock
 * belongs to the transaction, not the session, because a transaction-pooling proxy wouldn't keep a session's lock.
 */
export async function migrate(target: Pool | string, options: MigrateOptions = {}): Promise<MigrateResult> {
  const wanted = {
    migrations: await readMigrations(options.tablesDir),
    set: await readSources(options.functionsDir),
  }
  if (typeof target !== 'string') return migrateOnPool(target, wanted, options)
  const pool = createPool({
    connectionString: target,
    max: 1,
    applicationName: 'holdfast-migrate',
    connectTimeoutMs,
  })
  try {
    return await migrateOnPool(pool, wanted, options)
  } finally {
    await closePool(pool, connectTimeoutMs)
  }
}

async function migrateOnPool(pool: Pool, wanted: Wanted, options: MigrateOptions): Promise<MigrateResult> {
  const client = await pool.connect()
  let failure: unknown
  try {
    await assertServerVersion(client)
    const applied: string[] = []
    for (;;) {
      const step = await applyNextPatiently(client, wanted, options)
      if (step.applied === null) return { applied, sources: step.sources, schemaNumber: step.schemaNumber }
      applied.push(step.applied)
    }
  } catch (error) {
    failure = error
    throw error
  } finally {
    // The client may be in a broken transaction, so it is not returned to the pool.
    client.release(failure !== undefined)
  }
}

interface Step {
  /** Null: no table change was left to apply. */
  readonly applied: string | null
  readonly sources: readonly string[]
  readonly schemaNumber: number
}

/** A step is one transaction: if it was rolled back because of a conflict, it can be repeated as a whole. */
async function applyNextPatiently(
  client: PoolClient,
  wanted: Wanted,
  options: MigrateOptions,
): Promise<Step> {
  let pauseMs = options.firstPauseMs ?? defaultFirstPauseMs
  for (let tryNumber = 1; ; tryNumber++) {
    try {
      return await applyNext(client, wanted, { ...options, tryNumber })
    } catch (error) {
      if (tryNumber === maxTries || !isPassing(error)) throw error
      await client.query('rollback')
      options.logger?.warn(
        { ...error.details, error: error.message, tryNumber, maxTries, pauseMs },
        'A migration was rolled back because other sessions held locks that it needs; retrying',
      )
      await delay(pauseMs)
      pauseMs *= 2
    }
  }
}

function isPassing(error: unknown): error is HoldfastError {
  return (
    error instanceof HoldfastError &&
    error.code === 'not_migrated' &&
    passingCodes.has(error.details['sqlstate'])
  )
}

async function applyNext(
  client: PoolClient,
  { migrations, set }: Wanted,
  options: MigrateOptions & { readonly tryNumber: number },
): Promise<Step> {
  const lockTimeoutMs = options.lockTimeoutMs ?? defaultLockTimeoutMs
  // Read committed, whatever the role's default: the statement after the lock must see what the previous holder committed.
  await client.query('begin isolation level read committed')
  await client.query(
    `set local lock_timeout = ${Math.trunc(lockTimeoutMs)}; set local statement_timeout = 0; set local search_path = pg_catalog, pg_temp`,
  )
  await takeLock(client, lockTimeoutMs)
  const applied = await readAppliedSchema(client)
  assertUnchanged(migrations, applied.migrations)
  const schemaNumber = applied.migrations.at(-1)?.number ?? 0
  const next = migrations[schemaNumber]
  const isPartial = options.toNumber !== undefined
  if (next === undefined || next.number > (options.toNumber ?? Number.POSITIVE_INFINITY)) {
    const sources =
      isPartial || hasSources(applied, set) ? [] : await replaceSources(client, set, applied.sources === null)
    await client.query('commit')
    return { applied: null, sources, schemaNumber }
  }
  if (next.number === 1) await createRecords(client)
  await runMigration(client, next, options.tryNumber)
  await client.query(
    'insert into holdfast_internal.migrations (number, name, checksum) values ($1, $2, $3)',
    [next.number, next.name, next.checksum],
  )
  // A table change may have dropped a view that depended on it: missing sources are found and created again.
  await client.query('update holdfast_internal.source_revision set checksum = null')
  await client.query('commit')
  return { applied: next.name, sources: [], schemaNumber: next.number }
}

async function replaceSources(client: PoolClient, set: SourceSet, isFirst: boolean): Promise<string[]> {
  const applied = await applySources(client, set, version).catch((error: unknown) => {
    if (isConnectionError(error) || !(error instanceof DatabaseError)) throw error
    throw new HoldfastError(
      'not_migrated',
      `The functions could not be replaced: ${error.message}. All of their changes were rolled back; the tables are unchanged.`,
      { sqlstate: error.code },
      error,
    )
  })
  if (set.sources.some(({ name }) => name === 'holdfast_internal.renew_grants')) {
    await client.query('select holdfast_internal.renew_grants()')
  }
  // Messages need partitions, and ids within them, before the first node maintains both.
  if (isFirst && applied.includes('holdfast.maintain_partitions')) {
    await client.query('select holdfast.maintain_partitions(3), holdfast_internal.advance_ids()')
  }
  return applied
}

async function takeLock(client: PoolClient, lockTimeoutMs: number): Promise<void> {
  try {
    await client.query('select pg_advisory_xact_lock($1::bigint)', [migrationLockKey])
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== '55P03') throw error
    throw new HoldfastError(
      'database_unavailable',
      `Another process has been migrating this database for ${lockTimeoutMs} ms. Wait for it to end, then try again.`,
      { lockTimeoutMs },
      error,
    )
  }
}

/** The records of migrations: applied table changes, and the functions, views and triggers in the database. */
async function createRecords(client: PoolClient): Promise<void> {
  await client.query(`
    create schema if not exists holdfast;
    create schema if not exists holdfast_internal;
    create table if not exists holdfast_internal.migrations (
      number int primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    );
    create table if not exists holdfast_internal.sources (
      kind text not null,
      name text primary key,
      "table" text,
      checksum text not null
    );
    create table if not exists holdfast_internal.source_revision (
      is_only boolean primary key default true check (is_only),
      revision integer not null,
      checksum text,
      version text not null,
      applied_at timestamptz not null default now()
    )`)
}

async function runMigration(client: PoolClient, migration: Migration, tryNumber: number): Promise<void> {
  try {
    await client.query(migration.sql)
  } catch (error) {
    if (isConnectionError(error) || !(error instanceof DatabaseError)) throw error
    const line = lineAt(migration.sql, error.position)
    const tries =
      tryNumber === 1 ? '' : ` It was tried ${tryNumber} times: try again when the database is less busy.`
    throw new HoldfastError(
      'not_migrated',
      `Migration ${migration.name} failed${line}: ${error.message}. It was rolled back; earlier migrations are kept.${tries}`,
      { migration: migration.name, sqlstate: error.code },
      error,
    )
  }
}

function lineAt(sql: string, position: string | undefined): string {
  if (position === undefined) return ''
  return ` at line ${sql.slice(0, Number(position)).split('\n').length}`
}
