import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { findFreePort } from '../../../src/postgres/embedded/free-port.ts'
import { type GuardedServer, serverEnvironment, spawnGuarded } from '../../../src/postgres/embedded/guard.ts'
import { findServerUser, type ServerUser } from '../../../src/postgres/embedded/server-user.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { until } from '../engine/until.ts'
import { killServer } from './kill-server.ts'

/** Where Debian installs it. The embedded server comes without `pg_basebackup`. */
const binariesFolder = '/usr/lib/postgresql/15/bin'
const missing = ['initdb', 'postgres', 'pg_basebackup'].filter(
  (name) => !existsSync(join(binariesFolder, name)),
)

/** Null, or why a replicated database can't be had on this machine. */
export const replicationSkipped =
  missing.length === 0
    ? null
    : `needs ${missing.join(', ')} in ${binariesFolder} (Debian: apt-get install postgresql-15)`

const run = promisify(execFile)
const userName = 'holdfast'
/** Everything that a URL must encode. */
const password = 'p,w@/:% s3cret'
const fastShutdownSeconds = 5

/** One server of the pair. */
class Server {
  readonly port: number
  readonly #folder: string
  readonly #user: ServerUser | null
  #guarded: GuardedServer | null = null

  constructor(folder: string, port: number, user: ServerUser | null) {
    this.#folder = folder
    this.port = port
    this.#user = user
  }

  get url(): string {
    return `postgres://${userName}:${encodeURIComponent(password)}@127.0.0.1:${this.port}/postgres`
  }

  async start(): Promise<void> {
    const log = await open(`${this.#folder}.log`, 'a')
    this.#guarded = spawnGuarded({
      command: join(binariesFolder, 'postgres'),
      args: ['-D', this.#folder, '-p', String(this.port)],
      cwd: this.#folder,
      user: this.#user,
      logFd: log.fd,
      fastShutdownSeconds,
    })
    await log.close()
    await until('the server to answer', () => this.#answers(), Boolean, 30_000).catch(
      async (error: unknown) => {
        throw new Error(await readFile(`${this.#folder}.log`, 'utf8'), { cause: error })
      },
    )
  }

  async kill(): Promise<void> {
    const pid = await this.#guarded?.pid
    if (this.#guarded == null || pid == null) throw new Error('the server does not run')
    await killServer(pid, this.#guarded.exitCode)
    this.#guarded.release()
  }

  async stop(): Promise<void> {
    this.#guarded?.release()
    await this.#guarded?.exitCode
  }

  async query<Row>(text: string): Promise<Row[]> {
    const client = new Client({ connectionString: this.url, connectionTimeoutMillis: 5000 })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(text)).rows as Row[]
    } finally {
      await client.end()
    }
  }

  async #answers(): Promise<boolean> {
    if (this.#guarded?.hasEnded() === true) throw new Error('the server ended while it started')
    return this.query('select 1').then(
      () => true,
      () => false,
    )
  }
}

/**
 * A primary and a streaming standby on loopback, migrated. The primary can be killed and the standby promoted, once.
 *
 * @example
 * await using database = await ReplicatedDatabase.start({ isSynchronous: true })
 * await database.killPrimary()
 * await database.promote()
 */
export class ReplicatedDatabase {
  readonly primary: Server
  readonly standby: Server
  readonly #folder: string

  private constructor(folder: string, primary: Server, standby: Server) {
    this.#folder = folder
    this.primary = primary
    this.standby = standby
  }

  static async start(options: { readonly isSynchronous: boolean }): Promise<ReplicatedDatabase> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-replicated-'))
    const user = await findServerUser(folder)
    const folders = { primary: join(folder, 'primary'), standby: join(folder, 'standby') }
    await mkdir(folders.primary, { mode: 0o700 })
    await mkdir(folders.standby, { mode: 0o700 })
    await chmod(folder, 0o700)
    await writeFile(join(folder, 'password'), password, { mode: 0o600 })
    if (user !== null) {
      for (const path of [folder, folders.primary, folders.standby, join(folder, 'password')]) {
        await chown(path, user.uid, user.gid)
      }
    }
    const primary = new Server(folders.primary, await findFreePort(null), user)
    const standby = new Server(folders.standby, await findFreePort(null), user)
    const database = new ReplicatedDatabase(folder, primary, standby)
    try {
      await initialise(folders.primary, join(folder, 'password'), user)
      await primary.start()
      await copy(primary, folders.standby, user)
      await standby.start()
      await until('the standby to stream', () => database.#isStreaming())
      if (options.isSynchronous) {
        await primary.query(`alter system set synchronous_standby_names = '*'`)
        await primary.query('select pg_reload_conf()')
        await until('the standby to be synchronous', () => database.#isSynchronous())
      }
      await migrate(database.url)
      return database
    } catch (error) {
      await database[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The standby stands first: whoever takes the first host that answers is on the wrong one. */
  get url(): string {
    const [primary, standby] = [this.primary, this.standby].map(({ port }) => `127.0.0.1:${port}`)
    return `postgres://${userName}:${encodeURIComponent(password)}@${standby},${primary}/postgres?target_session_attrs=read-write`
  }

  async killPrimary(): Promise<void> {
    await this.primary.kill()
  }

  async promote(): Promise<void> {
    await this.standby.query('select pg_promote(true, 30)')
  }

  /** What is committed from now on doesn't reach the standby; what was committed before is there. */
  async cutReplication(): Promise<void> {
    const [now] = await this.primary.query<{ lsn: string }>('select pg_current_wal_flush_lsn() as lsn')
    await until('the standby to have it all', async () => {
      const [replayed] = await this.standby.query<{ isThere: boolean }>(
        `select pg_last_wal_replay_lsn() >= '${now?.lsn}' as "isThere"`,
      )
      return replayed?.isThere === true
    })
    await this.standby.query(`alter system set primary_conninfo = ''`)
    await this.standby.query('select pg_reload_conf()')
    await until('the standby to receive nothing', async () => {
      return (await this.standby.query('select from pg_stat_wal_receiver')).length === 0
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.standby.stop(), this.primary.stop()])
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #isStreaming(): Promise<boolean> {
    return (
      (await this.primary.query(`select from pg_stat_replication where state = 'streaming'`)).length === 1
    )
  }

  async #isSynchronous(): Promise<boolean> {
    return (
      (await this.primary.query(`select from pg_stat_replication where sync_state = 'sync'`)).length === 1
    )
  }
}

async function initialise(folder: string, passwordFile: string, user: ServerUser | null): Promise<void> {
  const args = [`--pgdata=${folder}`, `--username=${userName}`, `--pwfile=${passwordFile}`]
  args.push('--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync')
  await run(join(binariesFolder, 'initdb'), args, { cwd: folder, env: serverEnvironment(), ...user })
  // A process that is killed loses nothing that it wrote; fsync guards against the machine's death, which no test here causes.
  const settings = `listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
fsync = off
jit = off
wal_retrieve_retry_interval = 100ms
log_min_messages = warning
`
  await writeFile(join(folder, 'postgresql.auto.conf'), settings, { mode: 0o600 })
  if (user !== null) await chown(join(folder, 'postgresql.auto.conf'), user.uid, user.gid)
}

async function copy(primary: Server, folder: string, user: ServerUser | null): Promise<void> {
  const args = [`--pgdata=${folder}`, '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  args.push('--host=127.0.0.1', `--port=${primary.port}`, `--username=${userName}`)
  const env = { ...serverEnvironment(), PGPASSWORD: password }
  await run(join(binariesFolder, 'pg_basebackup'), args, { cwd: folder, env, ...user })
}
