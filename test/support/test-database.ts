import { createHash, randomBytes } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { inject } from 'vitest'
import { migrate } from '../../src/postgres/migrate.ts'
import { createPool } from '../../src/postgres/pool.ts'
import { readSources } from '../../src/postgres/sources/source-files.ts'
import { readMigrations } from '../../src/postgres/table-files.ts'

export interface TestDatabase {
  readonly url: string
  readonly pool: Pool
  /** Ends the pool and drops the database; throws when somebody still holds a connection to it. */
  drop(): Promise<void>
}

export interface TestDatabaseOptions {
  /** False: an empty database, for the tests of the migrations themselves. */
  readonly isMigrated?: boolean
  readonly maxConnections?: number
}

const templateLockKey = 4_861_219
const templatePrefix = 'holdfast_template_'
const leakGraceMs = 3_000

/** A fresh, migrated database of the test file's own, copied from a template in some 50 ms. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const name = `holdfast_test_${process.pid}_${randomBytes(4).toString('hex')}`
  await withServer(async (server) => {
    if (options.isMigrated === false) {
      await server.query(`create database ${name}`)
      return
    }
    await createFromTemplate(server, name)
    // As on our own connections; a server that compiles what is short is many times slower in tests that ask a lot.
    await server.query(`alter database ${name} set jit = off`)
  })
  const url = urlOf(name)
  const pool = createPool({
    connectionString: withPublicNames(url),
    max: options.maxConnections ?? 10,
    applicationName: 'holdfast-test',
    connectTimeoutMs: 10_000,
  })
  let dropping: Promise<void> | undefined
  return {
    url,
    pool,
    drop: () => {
      dropping ??= drop(name, pool)
      return dropping
    },
  }
}

/** For the test's own tables: Holdfast's sessions look up bare names in PostgreSQL's schema only. */
export function withPublicNames(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.searchParams.set('options', '-c search_path=public')
  return url.href
}

function urlOf(database: string): string {
  const url = new URL(inject('databaseUrl'))
  url.pathname = `/${database}`
  return url.href
}

async function withServer<Result>(work: (server: Client) => Promise<Result>): Promise<Result> {
  const server = new Client({ connectionString: inject('databaseUrl') })
  server.on('error', () => {})
  await server.connect()
  try {
    return await work(server)
  } finally {
    await server.end()
  }
}

async function createFromTemplate(server: Client, name: string): Promise<void> {
  const tables = (await readMigrations()).map((migration) => migration.checksum)
  const checksums = [...tables, (await readSources()).checksum]
  const template = templatePrefix + createHash('sha256').update(checksums.join()).digest('hex').slice(0, 16)
  // Shared while copying, exclusive while building: nobody drops a template that another test file copies.
  await server.query('select pg_advisory_lock_shared($1)', [templateLockKey])
  if (!(await exists(server, template))) {
    await server.query('select pg_advisory_unlock_shared($1)', [templateLockKey])
    await server.query('select pg_advisory_lock($1)', [templateLockKey])
    if (!(await exists(server, template))) await buildTemplate(server, template)
    await server.query('select pg_advisory_lock_shared($1)', [templateLockKey])
    await server.query('select pg_advisory_unlock($1)', [templateLockKey])
  }
  await server.query(`create database ${name} template ${template}`)
}

async function exists(server: Client, database: string): Promise<boolean> {
  // Only a finished template is marked as one: a build that broke off half-way doesn't count.
  const { rowCount } = await server.query('select from pg_database where datname = $1 and datistemplate', [
    database,
  ])
  return rowCount === 1
}

async function buildTemplate(server: Client, template: string): Promise<void> {
  const { rows } = await server.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1)',
    [templatePrefix],
  )
  for (const { datname } of rows) {
    await server.query(`alter database ${datname} is_template false`)
    await server.query(`drop database ${datname} with (force)`)
  }
  await server.query(`create database ${template}`)
  await migrate(urlOf(template))
  await server.query(`alter database ${template} allow_connections false is_template true`)
}

async function drop(name: string, pool: Pool): Promise<void> {
  const lentClients = pool.totalCount - pool.idleCount
  const leaks: string[] = []
  if (lentClients > 0) leaks.push(`${lentClients} clients of the test's pool were never released`)
  else await pool.end()
  await withServer(async (server) => {
    if (lentClients === 0) leaks.push(...(await openConnections(server, name)))
    await server.query(`drop database if exists ${name} with (force)`)
  })
  if (leaks.length > 0) throw new Error(`${name} was left with open connections:\n${leaks.join('\n')}`)
}

/** Connections that outlive the grace which a backend needs to notice that its client has gone. */
async function openConnections(server: Client, name: string): Promise<string[]> {
  const deadline = performance.now() + leakGraceMs
  for (;;) {
    const { rows } = await server.query<{ leak: string }>(
      `select format('%s (pid %s, %s): %s', application_name, pid, state, left(query, 100)) as leak
       from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [name],
    )
    if (rows.length === 0 || performance.now() > deadline) return rows.map((row) => row.leak)
    await server.query('select pg_sleep(0.02)')
  }
}
