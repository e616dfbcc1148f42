import type { Pool } from 'pg'
import type { DatabaseProcess } from '../support/processes/database-process.ts'
import type { DatabaseClock } from './database-clock.ts'
import type { DatabaseFaultKind, Fault } from './fault-plan.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { Standby } from './standby.ts'

const retryPauseMs = 50
const recoveryDeadlineMs = 60_000
const maxStepMs = 20_000

export interface DatabaseFaultsOptions {
  readonly database: DatabaseProcess
  readonly clock: DatabaseClock
  readonly standby: Standby | null
  /** Connections that the faults may look around with. */
  readonly pool: Pool
  readonly random: SeededRandom
}

/** What happens to PostgreSQL itself. Faults that take it away come one after the other. */
export class DatabaseFaults {
  /** When the server lost what it had in memory: asynchronous commits of the moments before may be gone. */
  readonly crashedAtMs: number[] = []
  readonly #options: DatabaseFaultsOptions
  #isDown = false

  constructor(options: DatabaseFaultsOptions) {
    this.#options = options
  }

  get isDown(): boolean {
    return this.#isDown
  }

  /** False: it was away already, and nothing was done. */
  async inflict(fault: Fault & { readonly kind: DatabaseFaultKind }): Promise<boolean> {
    if (fault.kind === 'step-clock') {
      await this.#step()
      return true
    }
    if (this.#isDown) return false
    this.#isDown = true
    try {
      return await this.#takeAway(fault)
    } finally {
      this.#isDown = false
    }
  }

  async #takeAway({ kind, lastsMs }: Fault): Promise<boolean> {
    const { database, standby } = this.#options
    if (kind === 'kill-backend') return this.#killBackend()
    if (kind === 'promote-standby') {
      if (standby === null) return false
      this.crashedAtMs.push(performance.now())
      await standby.promote()
      return true
    }
    if (kind === 'crash-database') {
      await database.crash()
      this.crashedAtMs.push(performance.now())
    } else {
      await database.stop()
    }
    await pause(lastsMs)
    await database.restart()
    return true
  }

  async #step(): Promise<void> {
    const { clock, random } = this.#options
    const byMs = random.between(1000, maxStepMs)
    await clock.step(random.chance(0.5) ? byMs : -byMs)
  }

  async #killBackend(): Promise<boolean> {
    const { pool, random } = this.#options
    try {
      const { rows } = await pool.query<{ pid: number }>(
        `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by pid`,
      )
      process.kill(random.pick(rows).pid, 'SIGKILL')
    } catch {
      // That backend has ended since.
      return false
    }
    this.crashedAtMs.push(performance.now())
    await this.#untilRecovered()
    return true
  }

  async #untilRecovered(): Promise<void> {
    const deadlineMs = performance.now() + recoveryDeadlineMs
    // The first answer may still come from before the crash: the postmaster ends the other backends a moment later.
    await pause(retryPauseMs)
    while (performance.now() < deadlineMs) {
      const isBack = await this.#options.pool.query('select 1').then(
        () => true,
        () => false,
      )
      if (isBack) return
      await pause(retryPauseMs)
    }
    throw new Error(`PostgreSQL did not recover within ${recoveryDeadlineMs} ms after a backend was killed`)
  }
}

async function pause(delayMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs))
}
