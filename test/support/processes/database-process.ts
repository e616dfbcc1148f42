import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { findFreePort } from '../../../src/postgres/embedded/free-port.ts'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../src/postgres/embedded/start-embedded-postgres.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { copyCluster } from './copy-cluster.ts'
import { childrenOf, killServer, signalAll } from './kill-server.ts'

export interface DatabaseProcessOptions {
  /** False: the database stays empty, for those who prepare it before they migrate it. */
  readonly isMigrated?: boolean
  /** Settings of postgresql.conf that win over ours. */
  readonly settings?: Readonly<Record<string, string>>
}

/**
 * A PostgreSQL of one test file's own, on a port that stays the same: what tests kill, freeze and restart. It ends with this process.
 *
 * @example
 * await using database = await DatabaseProcess.start()
 * await database.crash()
 * await database.restart()
 */
export class DatabaseProcess {
  readonly #dataDir: string
  readonly #port: number
  readonly #settings: Readonly<Record<string, string>>
  #server: EmbeddedPostgres

  private constructor(
    dataDir: string,
    port: number,
    settings: Readonly<Record<string, string>>,
    server: EmbeddedPostgres,
  ) {
    this.#dataDir = dataDir
    this.#port = port
    this.#settings = settings
    this.#server = server
  }

  /** Starts an empty server and migrates its database. */
  static async start(
    folder = tmpdir(),
    { isMigrated = true, settings = {} }: DatabaseProcessOptions = {},
  ): Promise<DatabaseProcess> {
    const dataDir = await mkdtemp(join(folder, 'holdfast-faults-'))
    const port = await findFreePort(null)
    const server = await startServer(dataDir, port, settings)
    if (isMigrated) await migrate(server.connectionString)
    return new DatabaseProcess(dataDir, port, settings, server)
  }

  /**
   * A streaming standby of this server, on a port of its own. The settings of this server must let it connect (`max_wal_senders`) and keep
   * the log that it needs (`wal_keep_size`).
   */
  async startStandby(): Promise<DatabaseProcess> {
    const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-standby-'))
    try {
      await copyCluster(this.url, this.#dataDir, dataDir)
      const { username, password } = new URL(this.url)
      const settings = {
        ...this.#settings,
        primary_conninfo: `host=127.0.0.1 port=${this.#port} user=${username} password=${decodeURIComponent(password)}`,
        wal_retrieve_retry_interval: '100ms',
      }
      const port = await findFreePort(null)
      return new DatabaseProcess(dataDir, port, settings, await startServer(dataDir, port, settings))
    } catch (error) {
      await rm(dataDir, { recursive: true, force: true })
      throw error
    }
  }

  /** Ends a standby's recovery: from then on it accepts writes. */
  async promote(): Promise<void> {
    await this.rows('select pg_promote(true, 60)')
  }

  get dataDir(): string {
    return this.#dataDir
  }

  get url(): string {
    return this.#server.connectionString
  }

  async rows<Row>(text: string): Promise<Row[]> {
    const client = new Client({ connectionString: this.url })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text)).rows as Row[]
    } finally {
      await client.end()
    }
  }

  async count(text: string): Promise<number> {
    return (await this.rows(text)).length
  }

  /** kill -9 of the server and everything that it runs. */
  async crash(): Promise<void> {
    await killServer(this.#server.pid, this.#server.exited)
  }

  /** A fast shutdown: open transactions are rolled back, connections closed. */
  async stop(): Promise<void> {
    await this.#server.stop()
  }

  async restart(): Promise<void> {
    this.#server = await startServer(this.#dataDir, this.#port, this.#settings)
  }

  /** Nothing of it runs any more, but every connection stays open. */
  async freeze(): Promise<void> {
    const { pid } = this.#server
    signalAll([pid, ...childrenOf(pid)], 'SIGSTOP')
  }

  async thaw(): Promise<void> {
    const { pid } = this.#server
    signalAll([...childrenOf(pid), pid], 'SIGCONT')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop()
    await rm(this.#dataDir, { recursive: true, force: true })
  }
}

async function startServer(
  dataDir: string,
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dataDir,
    port,
    // A process that is killed loses nothing that it wrote; fsync guards against the machine's death, which no test here causes.
    settings: { fsync: 'off', max_connections: '200', min_wal_size: '80MB', ...settings },
    fastShutdownSeconds: 5,
  })
}
