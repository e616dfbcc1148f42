import type { Logger } from '../engine/logger.ts'
import { Signal } from '../engine/signal.ts'
import { isTransientError } from '../postgres/connection-error.ts'
import type { Database } from '../storage/database.ts'
import {
  fireSchedules,
  readDueSchedules,
  readNextFireMs,
  type ScheduleFire,
  type ScheduleRow,
} from '../storage/schedules.ts'
import { dueFires } from './schedule-times.ts'

export interface ScheduleFirerOptions {
  readonly database: Database
  readonly logger: Logger
  /** The longest wait between two checks. */
  readonly pollMs: number
}

const maxBatch = 500
/** Fires per transaction, at 1 to 2 ms each: after a long downtime with many schedules, one statement for all would exceed its timeout every time. */
const maxTicks = 1000

/**
 * Fires due schedules. Any number of processes may do so at once: an update moves a schedule on only from the time that was read, so exactly one
 * process fires it, and a process that dies in between has fired nothing.
 */
export class ScheduleFirer {
  readonly #options: ScheduleFirerOptions
  readonly #signal = new Signal()
  #isStopped = false
  #running: Promise<void> | null = null

  constructor(options: ScheduleFirerOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#signal.raise()
    await this.#running
  }

  async #run(): Promise<void> {
    const { logger, pollMs } = this.#options
    while (!this.#isStopped) {
      let waitMs = pollMs
      try {
        waitMs = await this.#fire()
      } catch (error) {
        const level = isTransientError(error) ? 'debug' : 'error'
        logger[level]({ error: String(error) }, 'Firing schedules failed; retrying')
      }
      if (!this.#isStopped && waitMs > 0) await this.#signal.wait(waitMs)
    }
  }

  /** Fires due schedules. Returns how long to wait. */
  async #fire(): Promise<number> {
    const { database, pollMs } = this.#options
    const nextMs = (await readNextFireMs(database)) ?? pollMs
    if (nextMs > 0) return Math.min(pollMs, Math.ceil(nextMs))
    const { schedules, now } = await readDueSchedules(database, maxBatch)
    const fires = schedules.map((schedule) => this.#fireOf(schedule, now)).filter((fire) => fire !== null)
    for (const step of inSteps(fires)) await fireSchedules(database, step)
    return schedules.length === maxBatch && fires.length > 0 ? 0 : 1
  }

  #fireOf(schedule: ScheduleRow, now: Date): ScheduleFire | null {
    const { id, cron, timezone, every_ms, run_at, catch_up, next_at } = schedule
    if (next_at === null) return null
    try {
      const { times, next } = dueFires(
        { cron, timezone, everyMs: every_ms, runAt: run_at },
        catch_up,
        next_at,
        now,
      )
      return { id, expected: next_at, next, times }
    } catch (error) {
      // An invalid rule, edited by hand: log it once and skip it.
      this.#options.logger.error(
        { schedule: schedule.name, error: String(error) },
        'A schedule is invalid and cannot fire',
      )
      return { id, expected: next_at, next: null, times: [] }
    }
  }
}

/** Schedules with the fewest fires first, so that they don't wait for others to catch up. */
function inSteps(fires: readonly ScheduleFire[]): ScheduleFire[][] {
  const steps: ScheduleFire[][] = []
  let ticks = 0
  for (const fire of fires.toSorted((a, b) => a.times.length - b.times.length)) {
    const step = steps.at(-1)
    if (step !== undefined && ticks + fire.times.length <= maxTicks) {
      step.push(fire)
      ticks += fire.times.length
    } else {
      steps.push([fire])
      ticks = fire.times.length
    }
  }
  return steps
}
