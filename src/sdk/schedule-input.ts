import type { RunOptionsInput } from '../core/jobs/run-options.ts'
import type { JobOf } from '../jobs/job.ts'
import type { RawJson } from './raw-json.ts'

/** What every schedule has. */
export interface CommonScheduleInput<Input = unknown> {
  /** How it is called. Set again under the same name, it is replaced. */
  readonly name: string
  /** What it runs: a job that `defineJob` made, or the name of one. */
  readonly job: string | JobOf<Input>
  /** What its runs get; null when left out. A `RawJson` keeps every digit. */
  readonly payload?: NoInfer<Input> | RawJson | undefined
  /** Options of the runs that it makes. */
  readonly options?: RunOptionsInput | undefined
  /** When the last run is still owed: leave this one out (`skip`, default), run it after that one (`queue`), or run both (`allow`). */
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
  /** Not beside `cron`. */
  readonly everyMs?: undefined
  /** Not beside `cron`. */
  readonly runAt?: undefined
}

/** Runs again and again. */
export interface IntervalScheduleInput<Input = unknown> extends CommonScheduleInput<Input> {
  /** How long from one tick to the next, in milliseconds, a second at least. */
  readonly everyMs: number
  /** Not beside `everyMs`. */
  readonly cron?: undefined
  /** Of no effect here. */
  readonly timezone?: string | undefined
  /** Not beside `everyMs`. */
  readonly runAt?: undefined
}

/** Runs once. */
export interface OnceScheduleInput<Input = unknown> extends CommonScheduleInput<Input> {
  /** When: a Date, or ISO 8601 with a zone. */
  readonly runAt: Date | string
  /** Not beside `runAt`. */
  readonly cron?: undefined
  /** Of no effect here. */
  readonly timezone?: string | undefined
  /** Not beside `runAt`. */
  readonly everyMs?: undefined
}

/** When a job runs by itself: by the calendar, again and again, or once. */
export type ScheduleInput<Input = unknown> =
  | CronScheduleInput<Input>
  | IntervalScheduleInput<Input>
  | OnceScheduleInput<Input>
