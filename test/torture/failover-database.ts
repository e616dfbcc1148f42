import { tmpdir } from 'node:os'
import { until } from '../support/engine/until.ts'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import { DatabaseProcess } from '../support/processes/database-process.ts'

const settings = {
  max_prepared_transactions: '20',
  // A standby that is being copied needs the log from the beginning of its copy.
  wal_keep_size: '2GB',
}
const retryPauseMs = 500
const syncDeadlineMs = 30_000

/**
 * The run's database: a primary and a synchronous standby, behind one address that follows the primary. After a promotion the next standby is
 * copied from the new primary; until it has caught up there is none, and commits wait for nobody.
 */
export class FailoverDatabase {
  readonly #address: CuttingProxy
  readonly #hasStandby: boolean
  #primary: DatabaseProcess
  #standby: DatabaseProcess | null = null
  #arming: Promise<void> = Promise.resolve()
  #isOver = false

  private constructor(primary: DatabaseProcess, address: CuttingProxy, hasStandby: boolean) {
    this.#primary = primary
    this.#address = address
    this.#hasStandby = hasStandby
  }

  /** An empty database, not migrated. */
  static async start({ hasStandby }: { readonly hasStandby: boolean }): Promise<FailoverDatabase> {
    const primary = await DatabaseProcess.start(tmpdir(), { isMigrated: false, settings })
    const database = new FailoverDatabase(primary, await CuttingProxy.start(primary.url), hasStandby)
    database.#arm()
    return database
  }

  get url(): string {
    return this.#address.url
  }

  /** kill -9 of the primary. */
  async crash(): Promise<void> {
    await this.#primary.crash()
  }

  async stop(): Promise<void> {
    await this.#primary.stop()
  }

  async restart(): Promise<void> {
    await this.#primary.restart()
  }

  /** False: the next standby is still being copied. */
  get isStandbyReady(): boolean {
    return this.#standby !== null
  }

  /** Kills the primary with kill -9 and promotes the standby. Nothing that was acknowledged may be missing afterwards. */
  async promote(): Promise<void> {
    const standby = this.#standby
    if (standby === null) throw new Error('there is no standby to promote')
    const old = this.#primary
    this.#standby = null
    await old.crash()
    await standby.promote()
    this.#primary = standby
    this.#address.moveTo(standby.url)
    await old[Symbol.asyncDispose]()
    this.#arm()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#arming
    await this.#address.stop()
    await this.#standby?.[Symbol.asyncDispose]()
    await this.#primary[Symbol.asyncDispose]()
  }

  #arm(): void {
    if (this.#hasStandby) this.#arming = this.#copyUntilDone()
  }

  /** A fault may strike the primary while it is copied: then the copy begins anew. */
  async #copyUntilDone(): Promise<void> {
    while (!this.#isOver && this.#standby === null) {
      let standby: DatabaseProcess | null = null
      try {
        await this.#waitForStandby('reset synchronous_standby_names')
        standby = await this.#primary.startStandby()
        await this.#makeSynchronous()
        this.#standby = standby
      } catch {
        await standby?.[Symbol.asyncDispose]()
        await new Promise((resolve) => setTimeout(resolve, retryPauseMs))
      }
    }
  }

  async #makeSynchronous(): Promise<void> {
    const primary = this.#primary
    const isIn = async (state: string) =>
      (await primary.count(`select from pg_stat_replication where ${state}`)) === 1
    await until('the standby to stream', () => isIn(`state = 'streaming'`), Boolean, syncDeadlineMs)
    await this.#waitForStandby(`set synchronous_standby_names = '*'`)
    await until('the standby to be synchronous', () => isIn(`sync_state = 'sync'`), Boolean, syncDeadlineMs)
  }

  /** Whether commits wait for a standby. The copy of a primary that waits would wait itself, as soon as it is promoted. */
  async #waitForStandby(change: string): Promise<void> {
    await this.#primary.rows(`alter system ${change}`)
    await this.#primary.rows('select pg_reload_conf()')
  }
}
