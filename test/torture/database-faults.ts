import type { Pool } from 'pg'
import type { DatabaseClock } from './database-clock.ts'
import type { FailoverDatabase } from './failover-database.ts'
import type { DatabaseFaultKind, Fault } from './fault-plan.ts'
import type { SeededRandom } from './seeded-random.ts'

const retryPauseMs = 50
const recoveryDeadlineMs = 60_000
const standbyDeadlineMs = 120_000
const maxStepMs = 20_000

export interface DatabaseFaultsOptions {
  readonly database: FailoverDatabase
  readonly clock: DatabaseClock
  /** Connections that the faults may look around with. */
  readonly pool: Pool
  readonly random: SeededRandom
}

/** What happens to PostgreSQL itself. Faults that take it away come one after the other. */
export class DatabaseFaults {
  readonly #options: DatabaseFaultsOptions
  #isDown = false

  constructor(options: DatabaseFaultsOptions) {
    this.#options = options
  }

  get isDown(): boolean {
    return this.#isDown
  }

  /** While another fault keeps the server away, this one waits. `onStrike` is called when it begins. */
  async inflict(fault: Fault & { readonly kind: DatabaseFaultKind }, onStrike: () => void): Promise<void> {
    if (fault.kind === 'step-clock') {
      onStrike()
      await this.#step()
      return
    }
    await this.#untilPossible(fault)
    this.#isDown = true
    onStrike()
    try {
      await this.#takeAway(fault)
    } finally {
      this.#isDown = false
    }
  }

  async #untilPossible({ kind }: Fault): Promise<void> {
    const deadlineMs = performance.now() + standbyDeadlineMs
    const isMissing = () => kind === 'promote-standby' && !this.#options.database.isStandbyReady
    while (this.#isDown || isMissing()) {
      if (performance.now() > deadlineMs) throw new Error(`${kind} was not possible: there was no standby`)
      await pause(retryPauseMs)
    }
  }

  async #takeAway({ kind, lastsMs }: Fault): Promise<void> {
    const { database } = this.#options
    if (kind === 'kill-backend') {
      await this.#killBackend()
      return
    }
    if (kind === 'promote-standby') {
      await database.promote()
      return
    }
    if (kind === 'crash-database') {
      await database.crash()
    } else {
      await database.stop()
    }
    await pause(lastsMs)
    await database.restart()
  }

  async #step(): Promise<void> {
    const { clock, random } = this.#options
    const byMs = random.between(1000, maxStepMs)
    await clock.step(random.chance(0.5) ? byMs : -byMs)
  }

  async #killBackend(): Promise<void> {
    const deadlineMs = performance.now() + recoveryDeadlineMs
    while (!(await this.#killOne())) {
      if (performance.now() > deadlineMs) throw new Error('there was no backend to kill')
      await pause(retryPauseMs)
    }
    await this.#untilRecovered()
  }

  /** False: that backend has ended since, or the server doesn't answer. */
  async #killOne(): Promise<boolean> {
    const { pool, random } = this.#options
    try {
      const { rows } = await pool.query<{ pid: number }>(
        `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by pid`,
      )
      return process.kill(random.pick(rows).pid, 'SIGKILL')
    } catch {
      return false
    }
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
