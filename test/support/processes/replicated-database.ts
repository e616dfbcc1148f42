import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
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

/** Null, or why a replicated database can't be had on this machine. */
export const replicationSkipped = skippedWithout(['initdb', 'postgres', 'pg_basebackup'])

const run = promisify(execFile)

/**
 * A primary and a streaming standby on loopback, migrated. The primary can be killed and the standby promoted, once.
 *
 * @example
 * await using database = await ReplicatedDatabase.start({ isSynchronous: true })
 * await database.killPrimary()
 * await database.promote()
 */
export class ReplicatedDatabase {
  readonly primary: DebianServer
  readonly standby: DebianServer
  readonly #folder: string

  private constructor(folder: string, primary: DebianServer, standby: DebianServer) {
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
    const primary = new DebianServer(folders.primary, await findFreePort(null), user)
    const standby = new DebianServer(folders.standby, await findFreePort(null), user)
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

async function copy(primary: DebianServer, folder: string, user: ServerUser | null): Promise<void> {
  const args = [`--pgdata=${folder}`, '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  args.push('--host=127.0.0.1', `--port=${primary.port}`, `--username=${userName}`)
  const env = { ...serverEnvironment(), PGPASSWORD: password }
  await run(join(binariesFolder, 'pg_basebackup'), args, { cwd: folder, env, ...user })
}
