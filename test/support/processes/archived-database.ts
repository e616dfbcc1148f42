import { execFile } from 'node:child_process'
import { appendFile, chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFreePort } from '../../../src/postgres/embedded/free-port.ts'
import { serverEnvironment } from '../../../src/postgres/embedded/guard.ts'
import { findServerUser, type ServerUser } from '../../../src/postgres/embedded/server-user.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { until } from '../engine/until.ts'
import {
  binariesFolder,
  DebianServer,
  initialise,
  password,
  skippedWithout,
  userName,
} from './debian-server.ts'

/** Null, or why backups can't be made on this machine. */
export const backupsSkipped = skippedWithout(['initdb', 'postgres', 'pg_basebackup', 'pg_dump', 'pg_restore'])

const run = promisify(execFile)

/** A migrated server that archives its write-ahead log, with the backups of docs/backup.md made by PostgreSQL's own programs. */
export class ArchivedDatabase {
  readonly server: DebianServer
  readonly #folder: string
  readonly #user: ServerUser | null
  readonly #restored: DebianServer[] = []

  private constructor(folder: string, server: DebianServer, user: ServerUser | null) {
    this.#folder = folder
    this.server = server
    this.#user = user
  }

  static async start(): Promise<ArchivedDatabase> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-archived-'))
    const user = await findServerUser(folder)
    const [data, archive, passwordFile] = ['data', 'archive', 'password'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    for (const path of [data, archive]) await mkdir(path, { mode: 0o700 })
    await chmod(folder, 0o700)
    await writeFile(passwordFile, password, { mode: 0o600 })
    if (user !== null) {
      for (const path of [folder, data, archive, passwordFile]) await chown(path, user.uid, user.gid)
    }
    const settings = `archive_mode = on\narchive_command = 'cp %p ${archive}/%f'\n`
    await initialise(data, passwordFile, user, settings)
    const database = new ArchivedDatabase(
      folder,
      new DebianServer(data, await findFreePort(null), user),
      user,
    )
    try {
      await database.server.start()
      await migrate(database.server.url)
      return database
    } catch (error) {
      await database[Symbol.asyncDispose]()
      throw error
    }
  }

  /** pg_dump and pg_restore into an empty database of the same server; returns its URL. */
  async dumpTo(file: string): Promise<void> {
    await this.#program('pg_dump', ['--format=custom', `--file=${join(this.#folder, file)}`, 'postgres'])
  }

  async restoreDump(file: string, database: string): Promise<string> {
    await this.server.query(`create database ${database}`)
    await this.#program('pg_restore', ['--exit-on-error', `--dbname=${database}`, join(this.#folder, file)])
    const url = new URL(this.server.url)
    url.pathname = `/${database}`
    return url.href
  }

  async baseBackup(): Promise<void> {
    await this.#program('pg_basebackup', [
      `--pgdata=${join(this.#folder, 'base')}`,
      '--checkpoint=fast',
      '--no-sync',
    ])
  }

  /** Everything that was committed so far is in the archive. */
  async archiveAll(): Promise<void> {
    const [segment] = await this.server.query<{ name: string }>(
      'select pg_walfile_name(pg_switch_wal()) as name',
    )
    await until('the last segment to be archived', async () => {
      const [last] = await this.server.query<{ isThere: boolean }>(
        `select last_archived_wal >= '${segment?.name}' as "isThere" from pg_stat_archiver`,
      )
      return last?.isThere === true
    })
  }

  /** Recovers the base backup up to this time, as a server of its own. */
  async restoreTo(time: string): Promise<DebianServer> {
    const data = join(this.#folder, 'base')
    await appendFile(
      join(data, 'postgresql.auto.conf'),
      `archive_mode = off
restore_command = 'cp ${join(this.#folder, 'archive')}/%f %p'
recovery_target_time = '${time}'
recovery_target_action = promote
`,
    )
    await writeFile(join(data, 'recovery.signal'), '')
    const server = new DebianServer(data, await findFreePort(null), this.#user)
    this.#restored.push(server)
    await server.start()
    await until('recovery to end', async () => {
      const [state] = await server.query<{ isOver: boolean }>('select not pg_is_in_recovery() as "isOver"')
      return state?.isOver === true
    })
    return server
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.server, ...this.#restored].map((server) => server.stop()))
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #program(name: string, args: readonly string[]): Promise<void> {
    const connection = [
      '--host=127.0.0.1',
      `--port=${this.server.port}`,
      `--username=${userName}`,
      '--no-password',
    ]
    const env = { ...serverEnvironment(), PGPASSWORD: password }
    await run(join(binariesFolder, name), [...connection, ...args], { cwd: this.#folder, env, ...this.#user })
  }
}
