import type { RunOptionsInput } from '../core/jobs/run-options.ts'
import type { JobOf } from '../jobs/job.ts'
import type { RawJson } from './raw-json.ts'

/** What every schedule has. */
export interface CommonScheduleInput<Input = unknown> {
  /** The name of the schedule. Setting it again under the same name replaces it. */
  readonly name: string
  /** The job to run: a job from `defineJob`, or its name. */
  readonly job: string | JobOf<Input>
  /** The input of its runs; null by default. A `RawJson` keeps every digit. */
  readonly payload?: NoInfer<Input> | RawJson | undefined
  /** Options of the runs that it creates. */
  readonly options?: RunOptionsInput | undefined
  /** What happens while the last run has not ended: skip this one (`skip`, default), run it afterwards (`queue`), or run both (`allow`). */
  readonly overlap?: 'skip' | 'queue' | 'allow' | undefined
  /** After a downtime: the latest missed tick (`one`, default), all of them, or none. */
  readonly catchUp?: 'one' | 'all' | 'none' | undefined
}

/** Runs by the calendar. */
export interface CronScheduleInput<Input = unknown> extends CommonScheduleInput<Input> {
  /** Five fields, or six with seconds in front, like `0 3 * * *`. */
  readonly cron: string
  /** The time zone of `cron`, like `Europe/Amsterdam`; UTC when left out. */
  readonly timezone?: string | undefined
  /** Cannot be combined with `cron`. */
  readonly everyMs?: undefined
  /** Cannot be combined with `cron`. */
  readonly runAt?: undefined
}

/** Runs again and again. */
export interface IntervalScheduleInput<Input = unknown> extends CommonScheduleInput<Input> {
  /** The interval, in milliseconds; at least one second. */
  readonly everyMs: number
  /** Cannot be combined with `everyMs`. */
  readonly cron?: undefined
  /** Has no effect here. */
  readonly timezone?: string | undefined
  /** Cannot be combined with `everyMs`. */
  readonly runAt?: undefined
}

/** Runs once. */
export interface OnceScheduleInput<Input = unknown> extends CommonScheduleInput<Input> {
  /** The time to run: a Date, or ISO 8601 with a zone. */
  readonly runAt: Date | string
  /** Cannot be combined with `runAt`. */
  readonly cron?: undefined
  /** Has no effect here. */
  readonly timezone?: string | undefined
  /** Cannot be combined with `runAt`. */
  readonly everyMs?: undefined
}

/** When a job runs: by a cron expression, at an interval, or once. */
export type ScheduleInput<Input = unknown> =
  | CronScheduleInput<Input>
  | IntervalScheduleInput<Input>
  | OnceScheduleInput<Input>
