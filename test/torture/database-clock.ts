import type { Pool } from 'pg'
import { closePool, createPool } from '../../src/postgres/pool.ts'
import { SettableClock } from '../support/settable-clock.ts'

const retryPauseMs = 100
const closeDeadlineMs = 1000

/** From this moment on (monotonic) the database's clock was ahead of this machine's by so much. */
interface ClockSetting {
  readonly fromMs: number
  readonly aheadMs: number
}

/** How the database's clock ran, in hindsight. */
export class ClockHistory {
  readonly #settings: ClockSetting[]

  constructor(settings: readonly ClockSetting[] = [{ fromMs: 0, aheadMs: 0 }]) {
    this.#settings = [...settings]
  }

  note(setting: ClockSetting): void {
    this.#settings.push(setting)
  }

  /** The steps forwards: times that the database's clock never showed. */
  get jumps(): { readonly fromMs: number; readonly toMs: number }[] {
    return this.#settings.flatMap(({ fromMs, aheadMs }, index) => {
      const before = this.#settings[index - 1]
      if (before === undefined || before.aheadMs >= aheadMs) return []
      const realMs = performance.timeOrigin + fromMs
      return [{ fromMs: realMs + before.aheadMs, toMs: realMs + aheadMs }]
    })
  }

  /** When, on our monotonic clock, the database's clock showed a time in this range: more than once if it was set back. */
  timesOf(fromMs: number, untilMs: number): { readonly fromMs: number; readonly untilMs: number }[] {
    return this.#settings.flatMap((setting, index) => {
      const endMs = this.#settings[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY
      const offsetMs = performance.timeOrigin + setting.aheadMs
      const times = {
        fromMs: Math.max(setting.fromMs, fromMs - offsetMs),
        untilMs: Math.min(endMs, untilMs - offsetMs),
      }
      return times.fromMs < times.untilMs ? [times] : []
    })
  }

  /** What the database's clock showed at this moment of our monotonic clock. */
  databaseMs(atMs: number): number {
    const setting = this.#settings.findLast(({ fromMs }) => fromMs <= atMs) ?? this.#settings[0]
    return performance.timeOrigin + atMs + (setting?.aheadMs ?? 0)
  }
}

/** The clock of the run's database: set so that a month ends during the run, and stepped by faults. */
export class DatabaseClock {
  readonly history: ClockHistory
  readonly #pool: Pool
  #aheadMs: number

  private constructor(pool: Pool, aheadMs: number) {
    this.#pool = pool
    this.#aheadMs = aheadMs
    this.history = new ClockHistory([{ fromMs: 0, aheadMs }])
  }

  /** Takes an empty database, sets its clock, and migrates it. */
  static async install(url: string, aheadMs: number): Promise<DatabaseClock> {
    const pool = createPool({
      connectionString: url,
      max: 1,
      applicationName: 'torture-clock',
      connectTimeoutMs: 10_000,
    })
    await SettableClock.install({ url, pool }, aheadMs)
    return new DatabaseClock(pool, aheadMs)
  }

  /** The database's time. */
  nowMs(): number {
    return Date.now() + this.#aheadMs
  }

  /** Resolves when it has stepped, however long the database stays away. */
  async step(byMs: number): Promise<void> {
    const aheadMs = this.#aheadMs + byMs
    for (;;) {
      try {
        // An absolute value: an answer that was lost does no harm.
        await this.#pool.query('update settable.clock set ahead = make_interval(secs => $1::float8 / 1000)', [
          aheadMs,
        ])
        break
      } catch {
        await new Promise((resolve) => setTimeout(resolve, retryPauseMs))
      }
    }
    this.#aheadMs = aheadMs
    this.history.note({ fromMs: performance.now(), aheadMs })
  }

  async stop(): Promise<void> {
    await closePool(this.#pool, closeDeadlineMs)
  }
}

/** How far ahead the database's clock must be for the month to end, in UTC, so long from now. */
export function aheadOfMonthEdgeMs(now: Date, untilEdgeMs: number): number {
  const edgeMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  return edgeMs - now.getTime() - untilEdgeMs
}
