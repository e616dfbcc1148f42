import { existsSync, rmSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { escapeIdentifier, Pool } from 'pg'

/** The server that all PostgreSQL contenders share in a run. */
export interface DatabaseServer {
  adminUrl: string
  version: string
  settings: Record<string, string>
  /** Creates an empty database, or a copy of another one, which must have no connections. */
  createDatabase(templateUrl?: string): Promise<string>
  dropDatabase(databaseUrl: string): Promise<void>
  /** Drops the databases of this run, and stops the server if this run started it. */
  stop(): Promise<void>
}

interface EmbeddedModule {
  startEmbeddedPostgres(options: {
    dataDir: string
    settings?: Record<string, string>
  }): Promise<{ connectionString: string; stop(): Promise<void> }>
}

const REPORTED_SETTINGS = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_level',
  'shared_buffers',
  'max_wal_size',
  'max_connections',
  'autovacuum',
]

const embeddedModulePath = fileURLToPath(
  new URL('../../dist/postgres/embedded/start-embedded-postgres.js', import.meta.url),
)

/** `settings` (postgresql.conf) apply to the embedded server only; an external one has its own. */
export async function openDatabaseServer(
  externalUrl: string | undefined,
  settings: Record<string, string> = {},
): Promise<DatabaseServer> {
  if (externalUrl !== undefined) return connect(externalUrl, () => Promise.resolve())
  if (!existsSync(embeddedModulePath)) {
    throw new Error(
      'There is no built embedded server: run `npm run build` first, or name a server by --database-url.',
    )
  }
  const embedded = (await import(pathToFileURL(embeddedModulePath).href)) as EmbeddedModule
  // Beside the code, not in the system's temporary folder, which may be in memory, where fsync costs nothing.
  const dataDir = fileURLToPath(new URL(`../.data/${process.pid}`, import.meta.url))
  const server = await embedded.startEmbeddedPostgres({ dataDir, settings })
  return connect(server.connectionString, async () => {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
}

async function connect(adminUrl: string, stopServer: () => Promise<void>): Promise<DatabaseServer> {
  const admin = new Pool({ connectionString: adminUrl, max: 1 })
  // Losing an idle connection is no failure: at the end of a run it is usual, because `end` doesn't wait until it is closed.
  admin.on('error', () => {})
  const reported = await admin.query<{ name: string; setting: string }>(
    'select name, current_setting(name) as setting from pg_settings where name = any($1)',
    [REPORTED_SETTINGS],
  )
  const settings = Object.fromEntries(reported.rows.map(({ name, setting }) => [name, setting]))
  if (settings.fsync !== 'on' || settings.synchronous_commit !== 'on') {
    await admin.end()
    await stopServer()
    throw new Error(
      'This benchmark counts durable commits only: the server needs fsync and synchronous_commit on.',
    )
  }
  const server = await admin.query<{ server_version: string }>('show server_version')
  const ours = new Set<string>()
  let created = 0

  async function drop(name: string): Promise<void> {
    await admin.query(`drop database if exists ${escapeIdentifier(name)} with (force)`)
    ours.delete(name)
  }

  return {
    adminUrl,
    version: server.rows[0]?.server_version ?? 'unknown',
    settings,
    async createDatabase(templateUrl) {
      const name = `holdfast_bench_${process.pid}_${++created}`
      const template = templateUrl === undefined ? '' : ` template ${escapeIdentifier(nameIn(templateUrl))}`
      await admin.query(`create database ${escapeIdentifier(name)}${template}`)
      ours.add(name)
      // Every sample starts after a checkpoint, so that no contender pays for the checkpoint of another one.
      await admin.query('checkpoint')
      const url = new URL(adminUrl)
      url.pathname = `/${name}`
      return url.href
    },
    dropDatabase: (databaseUrl) => drop(nameIn(databaseUrl)),
    async stop() {
      for (const name of ours) await drop(name)
      await admin.end()
      await stopServer()
    },
  }
}

function nameIn(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1)
}
