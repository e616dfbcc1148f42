import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { type GuardedServer, serverEnvironment, spawnGuarded } from '../../../src/postgres/embedded/guard.ts'
import type { ServerUser } from '../../../src/postgres/embedded/server-user.ts'
import { until } from '../engine/until.ts'
import { killServer } from './kill-server.ts'

/** Where Debian installs it. The embedded server comes without `pg_basebackup` and `pg_dump`. */
export const binariesFolder = '/usr/lib/postgresql/15/bin'

/** Null, or why a test that needs these programs can't run on this machine. */
export function skippedWithout(programs: readonly string[]): string | null {
  const missing = programs.filter((name) => !existsSync(join(binariesFolder, name)))
  return missing.length === 0
    ? null
    : `needs ${missing.join(', ')} in ${binariesFolder} (Debian: apt-get install postgresql-15)`
}

const run = promisify(execFile)
export const userName = 'holdfast'
/** Everything that a URL must encode. */
export const password = 'p,w@/:% s3cret'
const fastShutdownSeconds = 5

/** A server of Debian's PostgreSQL on loopback, on a data folder that `initialise` or a base backup has made. */
export class DebianServer {
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

export async function initialise(
  folder: string,
  passwordFile: string,
  user: ServerUser | null,
  more = '',
): Promise<void> {
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
${more}`
  await writeFile(join(folder, 'postgresql.auto.conf'), settings, { mode: 0o600 })
  if (user !== null) await chown(join(folder, 'postgresql.auto.conf'), user.uid, user.gid)
}
