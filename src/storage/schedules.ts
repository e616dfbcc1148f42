import type { Database } from './database.ts'

export interface ScheduleRow {
  readonly id: number
  readonly name: string
  readonly job: string
  readonly cron: string | null
  readonly timezone: string
  readonly every_ms: number | null
  readonly run_at: Date | null
  /** JSON text with all digits. */
  readonly payload: string
  readonly options: Readonly<Record<string, unknown>> | null
  readonly overlap: 'skip' | 'queue' | 'allow'
  readonly catch_up: 'one' | 'all' | 'none'
  readonly is_paused: boolean
  readonly pause_reason: string | null
  readonly next_at: Date | null
  readonly last_at: Date | null
  readonly last_run_id: number | null
  readonly fired: number
  readonly skipped: number
}

const columns = `
  schedule.id, schedule.name, job.name as job, schedule.cron, schedule.timezone, schedule.every_ms, schedule.run_at,
  schedule.payload::text as payload, schedule.options, schedule.overlap, schedule.catch_up, schedule.is_paused, schedule.pause_reason, schedule.next_at, schedule.last_at,
  schedule.last_run_id, schedule.fired, schedule.skipped
  from holdfast_internal.schedules as schedule join holdfast_internal.jobs as job on job.id = schedule.job_id`

export interface ScheduleWrite {
  readonly name: string
  readonly job: string
  readonly cron: string | null
  readonly timezone: string
  readonly everyMs: number | null
  readonly runAt: Date | null
  readonly payload: string
  readonly options: object | null
  readonly overlap: ScheduleRow['overlap']
  readonly catchUp: ScheduleRow['catch_up']
  readonly nextAt: Date | null
}

/**
 * Creates or changes a schedule; an unchanged one keeps its next fire time, so that every process may declare it at start.
 * Returns false if there is no such job. Index: schedules_name_key.
 */
export async function upsertSchedule(
  database: Database,
  schedule: ScheduleWrite,
  actor: string,
): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'upsert_schedule',
      text: `
        with written as (
        insert into holdfast_internal.schedules as known
          (name, job_id, cron, timezone, every_ms, run_at, payload, options, overlap, catch_up, next_at)
        select $1, job.id, $3, $4, $5, $6, $7::json, $8::jsonb, $9, $10, $11 from holdfast_internal.jobs as job where job.name = $2
        on conflict (name) do update set
          job_id = excluded.job_id, payload = excluded.payload, options = excluded.options, overlap = excluded.overlap,
          catch_up = excluded.catch_up, updated_at = now(), cron = excluded.cron, timezone = excluded.timezone,
          every_ms = excluded.every_ms, run_at = excluded.run_at,
          next_at = case
            when (known.cron, known.timezone, known.every_ms, known.run_at)
              is not distinct from (excluded.cron, excluded.timezone, excluded.every_ms, excluded.run_at)
            then known.next_at else excluded.next_at end
        returning id)
        select holdfast_internal.audit($12, 'schedule.set', 'schedule:' || $1,
          jsonb_build_object('job', $2::text, 'cron', $3::text, 'everyMs', $5::bigint, 'runAt', $6::timestamptz)) from written`,
    },
    [
      schedule.name,
      schedule.job,
      schedule.cron,
      schedule.timezone,
      schedule.everyMs,
      schedule.runAt,
      schedule.payload,
      schedule.options === null ? null : JSON.stringify(schedule.options),
      schedule.overlap,
      schedule.catchUp,
      schedule.nextAt,
      actor,
    ],
  )
  return rows.length > 0
}

/** Index: schedules_name_key. */
export async function readSchedule(database: Database, name: string): Promise<ScheduleRow | undefined> {
  const rows = await database.query<ScheduleRow>(
    { name: 'read_schedule', text: `select ${columns} where schedule.name = $1` },
    [name],
  )
  return rows[0]
}

/** Index: schedules_name_key. */
export async function readSchedules(database: Database, names: readonly string[]): Promise<ScheduleRow[]> {
  return database.query<ScheduleRow>(
    { name: 'read_schedules', text: `select ${columns} where schedule.name = any ($1::text[])` },
    [names],
  )
}

/** By name, after `afterName`. Index: schedules_name_key. */
export async function listSchedules(
  database: Database,
  afterName: string,
  limit: number,
): Promise<ScheduleRow[]> {
  return database.query<ScheduleRow>(
    {
      name: 'list_schedules',
      text: `select ${columns} where schedule.name > $1 order by schedule.name limit $2`,
    },
    [afterName, limit],
  )
}

/** Resuming after a pause computes the next fire time from now: fires during the pause are skipped. Index: schedules_name_key. */
export async function pauseSchedule(
  database: Database,
  name: string,
  pause: { readonly isPaused: boolean; readonly reason: string | null; readonly nextAt: Date | null },
  actor: string,
): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'pause_schedule',
      text: `
        with written as (
        update holdfast_internal.schedules set is_paused = $2, pause_reason = $3, updated_at = now(),
          next_at = case when is_paused and not $2 then coalesce($4, next_at) else next_at end
        where name = $1 returning id)
        select holdfast_internal.audit($5, case when $2 then 'schedule.paused' else 'schedule.resumed' end, 'schedule:' || $1,
          jsonb_build_object('reason', $3::text)) from written`,
    },
    [name, pause.isPaused, pause.reason, pause.nextAt, actor],
  )
  return rows.length > 0
}

/** Index: schedules_name_key. */
export async function deleteSchedule(database: Database, name: string, actor: string): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'delete_schedule',
      text: `
        with gone as (delete from holdfast_internal.schedules where name = $1 returning id)
        select holdfast_internal.audit($2, 'schedule.deleted', 'schedule:' || $1) from gone`,
    },
    [name, actor],
  )
  return rows.length > 0
}

export interface DueSchedules {
  readonly schedules: readonly ScheduleRow[]
  /** The database's time, on which due times are based. */
  readonly now: Date
}

/** Schedules that are due, the longest overdue first. Index: schedules_due. */
export async function readDueSchedules(database: Database, limit: number): Promise<DueSchedules> {
  const rows = await database.query<ScheduleRow & { now: Date }>(
    {
      name: 'read_due_schedules',
      text: `
        select clock_timestamp() as now, ${columns}
        where schedule.next_at <= clock_timestamp() and not schedule.is_paused order by schedule.next_at limit $1`,
    },
    [limit],
  )
  return { schedules: rows, now: rows[0]?.now ?? new Date(0) }
}

export interface ScheduleFire {
  readonly id: number
  readonly expected: Date
  readonly next: Date | null
  readonly times: readonly Date[]
}

/** Advances each schedule by compare-and-swap and enqueues its runs, in one transaction. Returns the number of runs stored. */
export async function fireSchedules(database: Database, fires: readonly ScheduleFire[]): Promise<number> {
  const rows = await database.query<{ made: number }>(
    { name: 'fire_schedules', text: 'select holdfast_internal.fire_schedules($1) as made' },
    [
      JSON.stringify(
        fires.map(({ id, expected, next, times }) => ({
          id,
          expected: expected.toISOString(),
          next: next?.toISOString() ?? null,
          times: times.map((time) => time.toISOString()),
        })),
      ),
    ],
  )
  return rows[0]?.made ?? 0
}

/** How long until the next fire; null: nothing is scheduled. Index: schedules_due. */
export async function readNextFireMs(database: Database): Promise<number | null> {
  const rows = await database.query<{ wait_ms: number | null }>(
    {
      name: 'read_next_fire',
      text: `
        select (extract(epoch from next_at - clock_timestamp()) * 1000)::float8 as wait_ms from holdfast_internal.schedules
        where next_at is not null and not is_paused order by next_at limit 1`,
    },
    [],
  )
  return rows[0]?.wait_ms ?? null
}

/** Schedules use the database's clock, on whichever machine they are set. */
export async function readDatabaseTime(database: Database): Promise<Date> {
  const rows = await database.query<{ now: Date }>(
    { name: 'read_database_time', text: 'select clock_timestamp() as now' },
    [],
  )
  return rows[0]?.now ?? new Date()
}
