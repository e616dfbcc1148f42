import { formatId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import { scheduleInput } from '../core/jobs/schedule-input.ts'
import { problemOfTimeZone } from '../core/jobs/time-zone.ts'
import { listProblems, problemsOf } from '../core/problem.ts'
import { nextFire, nextFires, problemOfRule, type ScheduleRule } from '../jobs/schedule-times.ts'
import type { Database } from '../storage/database.ts'
import { introduceJob } from '../storage/jobs.ts'
import {
  deleteSchedule,
  listSchedules,
  pauseSchedule,
  readDatabaseTime,
  readSchedule,
  readSchedules,
  type ScheduleRow,
  upsertSchedule,
} from '../storage/schedules.ts'
import { refuseUnfit } from './enqueuer.ts'
import { onDatabase } from './page.ts'
import { RawJson } from './raw-json.ts'
import type { ScheduleInput } from './schedule-input.ts'

export interface ScheduleView {
  readonly name: string
  readonly job: string
  readonly cron: string | null
  readonly timezone: string
  readonly everyMs: number | null
  readonly runAt: Date | null
  readonly payload: unknown
  /** The stored payload: JSON text with all digits, including those that a JavaScript number would lose. */
  readonly payloadText: string
  /** Options of the runs that the schedule creates. */
  readonly options: Readonly<Record<string, unknown>> | null
  readonly overlap: 'skip' | 'queue' | 'allow'
  readonly catchUp: 'one' | 'all' | 'none'
  readonly isPaused: boolean
  readonly pauseReason: string | null
  readonly nextAt: Date | null
  readonly lastAt: Date | null
  readonly lastRunId: string | null
  readonly fired: number
  readonly skipped: number
}

export interface SchedulesOptions {
  readonly database: () => Database
  readonly actor: string
}

const maxListed = 1000
const maxPreview = 100

/** Create, list and pause schedules. */
export class Schedules {
  readonly #options: SchedulesOptions

  constructor(options: SchedulesOptions) {
    this.#options = options
  }

  /**
   * Creates or changes a schedule. Setting the same schedule again changes nothing, so a process may call it at every start.
   *
   * @example await holdfast.schedules.set({ name: 'nightly', job: report, cron: '0 3 * * *', timezone: 'Europe/Amsterdam' })
   */
  async set<Input = unknown>(input: ScheduleInput<Input>): Promise<ScheduleView> {
    const raw = input.payload instanceof RawJson ? input.payload.text : null
    const defined = typeof input.job === 'object' ? input.job : null
    const parsed = scheduleInput.safeParse({
      ...input,
      ...(defined !== null && { job: defined.name }),
      ...(raw !== null && { payload: JSON.parse(raw) as unknown }),
    })
    if (!parsed.success) {
      const problems = problemsOf(parsed.error, { schema: scheduleInput, input })
      throw invalid(listProblems(problems), problems)
    }
    const {
      name,
      job,
      cron,
      timezone = 'UTC',
      everyMs,
      runAt,
      payload = null,
      options,
      overlap,
      catchUp,
    } = parsed.data
    const rule: ScheduleRule = {
      cron: cron ?? null,
      timezone,
      everyMs: everyMs ?? null,
      runAt: runAt ?? null,
    }
    const problem = problemOfRule(rule)
    if (problem !== null) {
      const path = problemOfTimeZone(timezone) === null ? 'cron' : 'timezone'
      throw invalid(problem, [{ path, message: problem }])
    }
    const written = {
      name,
      job,
      ...rule,
      payload: raw ?? JSON.stringify(payload),
      options: options ?? null,
      overlap: overlap ?? 'skip',
      catchUp: catchUp ?? 'one',
      // A single time in the past fires at once.
      nextAt: rule.runAt ?? nextFire(rule, await this.#run(readDatabaseTime)),
    }
    if (defined !== null) {
      refuseUnfit(defined, written.payload, 0)
      await this.#run((database) => introduceJob(database, defined.name, defined.settings))
    }
    const isKnown = await this.#run((database) => upsertSchedule(database, written, this.#options.actor))
    if (!isKnown)
      throw new HoldfastError(
        'job_not_found',
        `There is no job named "${job}". List them with: holdfast jobs list`,
        { job },
      )
    return this.get(name)
  }

  async get(name: string): Promise<ScheduleView> {
    const row = await this.#run((database) => readSchedule(database, name))
    if (row === undefined) throw notFound(name)
    return toView(row)
  }

  /** Returns the schedules with these names; unknown names are skipped. */
  async getMany(names: readonly string[]): Promise<ScheduleView[]> {
    const rows = await this.#run((database) => readSchedules(database, names))
    return rows.map(toView)
  }

  /** Sorted by name; at most a thousand, after `afterName`. */
  async list(
    options: { readonly afterName?: string; readonly limit?: number } = {},
  ): Promise<ScheduleView[]> {
    const limit = Math.min(options.limit ?? maxListed, maxListed + 1)
    const rows = await this.#run((database) => listSchedules(database, options.afterName ?? '', limit))
    return rows.map(toView)
  }

  /** The next fire times. */
  async preview(name: string, count = 10): Promise<Date[]> {
    const { cron, timezone, everyMs, runAt, nextAt } = await this.get(name)
    if (nextAt === null) return []
    const rule: ScheduleRule = { cron, timezone, everyMs, runAt }
    return [nextAt, ...nextFires(rule, nextAt, Math.min(count, maxPreview) - 1)]
  }

  async pause(name: string, reason?: string): Promise<void> {
    await this.#setPaused(name, { isPaused: true, reason: reason ?? null, nextAt: null })
  }

  /** Resumes with the next fire from now on; fires missed during the pause are skipped. */
  async resume(name: string, reason?: string): Promise<void> {
    const { cron, timezone, everyMs, runAt } = await this.get(name)
    const nextAt = nextFire({ cron, timezone, everyMs, runAt }, await this.#run(readDatabaseTime))
    await this.#setPaused(name, { isPaused: false, reason: null, nextAt }, reason)
  }

  async delete(name: string): Promise<void> {
    if (!(await this.#run((database) => deleteSchedule(database, name, this.#options.actor))))
      throw notFound(name)
  }

  async #setPaused(
    name: string,
    pause: { readonly isPaused: boolean; readonly reason: string | null; readonly nextAt: Date | null },
    why?: string,
  ): Promise<void> {
    if (!(await this.#run((database) => pauseSchedule(database, name, pause, this.#options.actor), why)))
      throw notFound(name)
  }

  async #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    return onDatabase(this.#options.database(), work, reason)
  }
}

function invalid(what: string, problems: readonly object[]): HoldfastError {
  return new HoldfastError('invalid_schedule', `The schedule is invalid. ${what}`, { problems })
}

function notFound(name: string): HoldfastError {
  return new HoldfastError(
    'schedule_not_found',
    `There is no schedule named "${name}". List them with: holdfast schedules list`,
    { schedule: name },
  )
}

function toView(row: ScheduleRow): ScheduleView {
  return {
    name: row.name,
    job: row.job,
    cron: row.cron,
    timezone: row.timezone,
    everyMs: row.every_ms,
    runAt: row.run_at,
    payload: JSON.parse(row.payload) as unknown,
    payloadText: row.payload,
    options: row.options,
    overlap: row.overlap,
    catchUp: row.catch_up,
    isPaused: row.is_paused,
    pauseReason: row.pause_reason,
    nextAt: row.next_at,
    lastAt: row.last_at,
    lastRunId: row.last_run_id === null ? null : formatId('run', row.last_run_id),
    fired: row.fired,
    skipped: row.skipped,
  }
}
