import type { Pool } from 'pg'
import { defineJob, type ScheduleInput } from '../../src/index.ts'
import type { Stage } from '../support/processes/stage.ts'
import type { DatabaseClock } from './database-clock.ts'
import { runFactColumns, runFactJoins, runFacts } from './final-states.ts'

/** As test/support/processes/worker-entry.mjs defines it: beside the other runs, on the same queue. */
const tick = defineJob({ name: 'tick', queue: 'work' })

/** How far apart their ticks are. All of them lie on a whole number of intervals after the first. */
const schedules: readonly (ScheduleInput & { readonly intervalMs: number })[] = [
  { name: 'every-tick', job: tick.name, everyMs: 1000, catchUp: 'all', overlap: 'allow', intervalMs: 1000 },
  {
    name: 'every-cron',
    job: tick.name,
    cron: '* * * * * *',
    catchUp: 'all',
    overlap: 'queue',
    intervalMs: 1000,
  },
  { name: 'latest-tick', job: tick.name, everyMs: 3000, catchUp: 'one', overlap: 'allow', intervalMs: 3000 },
  {
    name: 'latest-cron',
    job: tick.name,
    cron: '*/3 * * * * *',
    catchUp: 'one',
    overlap: 'skip',
    intervalMs: 3000,
  },
]

const longestIntervalMs = Math.max(...schedules.map(({ intervalMs }) => intervalMs))
const caughtUpDeadlineMs = 60_000

/** What a schedule has made of its ticks. Times are the database's. */
export interface ScheduleEnd {
  readonly name: string
  readonly intervalMs: number
  readonly isEveryTickOwed: boolean
  readonly firstAtMs: number
  /** The first tick that wasn't to be fired any more. */
  readonly nextAtMs: number
  readonly fired: number
  readonly skipped: number
  readonly runs: readonly TickRun[]
  /** Ticks that could not be fired, with the reason. */
  readonly failures: readonly string[]
}

export interface TickRun {
  readonly id: string
  readonly atMs: number
  readonly isOwed: boolean
  readonly isDead: boolean
  readonly successes: number
}

/** Schedules that fire all the time, by whichever node or worker comes first. */
export class Schedules {
  readonly #stage: Stage
  readonly #clock: DatabaseClock
  readonly #firstAtMs = new Map<string, number>()

  constructor(stage: Stage, clock: DatabaseClock) {
    this.#stage = stage
    this.#clock = clock
  }

  /** Before anybody can fire them. */
  async declare(): Promise<void> {
    const { jobs, schedules: scheduled } = this.#stage.publisher
    await jobs.declare(tick)
    for (const { intervalMs: _, ...schedule } of schedules) await scheduled.set(schedule)
    // The SDK reckons the first tick by this machine's clock, which has nothing to do with the database's here.
    await this.#stage.pool.query(`update holdfast_internal.schedules set next_at = now() + interval '1 day'`)
  }

  /** From the next tick on. */
  async start(): Promise<void> {
    const firstAtMs = Math.ceil(this.#clock.nowMs() / longestIntervalMs + 1) * longestIntervalMs
    await this.#stage.pool.query('update holdfast_internal.schedules set next_at = $1', [new Date(firstAtMs)])
    for (const { name } of schedules) this.#firstAtMs.set(name, firstAtMs)
  }

  /** Waits until they have caught up with what they missed, and lets them rest. */
  async heal(): Promise<void> {
    const { publisher } = this.#stage
    const names = schedules.map(({ name }) => name)
    await this.#stage.until(
      () => publisher.schedules.getMany(names),
      (found) => found.every(({ nextAt }) => nextAt !== null && nextAt.getTime() > this.#clock.nowMs()),
      caughtUpDeadlineMs,
      'the schedules to catch up',
    )
    for (const name of names) await publisher.schedules.pause(name)
  }

  async readEnds(): Promise<ScheduleEnd[]> {
    const found = await this.#stage.publisher.schedules.getMany(schedules.map(({ name }) => name))
    const runs = await readTickRuns(this.#stage.pool)
    const failures = await readFailures(this.#stage.pool)
    return found.map(({ name, nextAt, fired, skipped, catchUp }) => ({
      name,
      intervalMs: schedules.find((schedule) => schedule.name === name)?.intervalMs ?? 0,
      isEveryTickOwed: catchUp === 'all',
      firstAtMs: this.#firstAtMs.get(name) ?? 0,
      nextAtMs: timeOf(nextAt),
      fired,
      skipped,
      runs: runs.filter(({ schedule }) => schedule === name),
      failures: failures.flatMap(({ subject, detail }) => (subject === `schedule:${name}` ? [detail] : [])),
    }))
  }
}

async function readTickRuns(pool: Pool): Promise<(TickRun & { readonly schedule: string })[]> {
  const { rows } = await pool.query<Omit<TickRun, 'atMs'> & { schedule: string; at: Date }>(`
    ${runFacts}
    select holdfast.format_id('run', message.id) as id, message.metadata ->> 'schedule' as schedule,
           (message.metadata ->> 'scheduledFor')::timestamptz as at, ${runFactColumns}
    from holdfast_internal.messages as message ${runFactJoins} where message.metadata ->> 'schedule' is not null`)
  return rows.map(({ at, ...run }) => ({ ...run, atMs: timeOf(at) }))
}

async function readFailures(pool: Pool): Promise<{ readonly subject: string; readonly detail: string }[]> {
  const { rows } = await pool.query<{ subject: string; detail: string }>(
    `select subject, detail::text from holdfast.audit_log where action = 'schedule.failed'`,
  )
  return rows
}

function timeOf(at: Date | null): number {
  return at === null ? Number.NaN : at.getTime()
}
