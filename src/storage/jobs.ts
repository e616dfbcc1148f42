import type { JobAutoDisable } from '../core/jobs/job-settings.ts'
import type { Database } from './database.ts'

export interface JobRow {
  readonly id: number
  readonly name: string
  readonly queue: string
  readonly lane_id: number
  readonly defaults: Readonly<Record<string, unknown>>
  readonly overrides: Readonly<Record<string, unknown>>
  readonly state: 'active' | 'paused' | 'disabled'
  readonly state_reason: string | null
  readonly state_changed_at: Date
  readonly reenable_at: Date | null
  readonly streak: number
  readonly created_at: Date
  readonly updated_at: Date
  /** When a worker first declared the current settings; null: none has. */
  readonly declared_at: Date | null
  /** The settings `auto_disable` and `worker_queue_ttl_ms`, which apply if the job doesn't set its own. */
  readonly site_auto_disable: JobAutoDisable
  readonly site_ttl_ms: number
}

const columns = `
  job.id, job.name, queue.name as queue, queue.id as lane_id, job.defaults, job.overrides, job.state, job.state_reason, job.state_changed_at,
  job.reenable_at, job.streak, job.created_at, job.updated_at,
  (select seen_at from holdfast_internal.job_declarations as declared where declared.id = job.declaration_id) as declared_at,
  holdfast_internal.setting_value('auto_disable') as site_auto_disable,
  holdfast_internal.setting_integer('worker_queue_ttl_ms')::float8 as site_ttl_ms
  from holdfast_internal.jobs as job join holdfast_internal.queues as queue on queue.id = job.queue_id`

/** Creates the job, so that its runs can be enqueued; an existing job is left unchanged. Index: jobs_name_key. */
export async function introduceJob(database: Database, name: string, settings: object): Promise<number> {
  const rows = await database.query<{ id: number }>(
    { name: 'introduce_job', text: 'select holdfast_internal.introduce_job($1, $2) as id' },
    [name, JSON.stringify(settings)],
  )
  return Number(rows[0]?.id)
}

/** Declares the jobs of a worker; returns the ids of the declarations. Indexes: jobs_name_key, job_declarations_settings. */
export async function declareJobs(
  database: Database,
  jobs: readonly { readonly name: string; readonly settings: object }[],
): Promise<readonly number[]> {
  const rows = await database.query<{ ids: (number | string)[] }>(
    { name: 'declare_jobs', text: 'select holdfast_internal.declare_jobs($1, $2::jsonb[]) as ids' },
    [jobs.map(({ name }) => name), jobs.map(({ settings }) => JSON.stringify(settings))],
  )
  return (rows[0]?.ids ?? []).map(Number)
}

/** Declares a job unless a live worker does. Writes nothing if nothing changed. Index: jobs_name_key. */
export async function declareJob(database: Database, name: string, defaults: object): Promise<number> {
  const rows = await database.query<{ id: number }>(
    { name: 'declare_job', text: 'select holdfast.declare_job($1, $2) as id' },
    [name, JSON.stringify(defaults)],
  )
  return Number(rows[0]?.id)
}

/** Index: jobs_name_key. */
export async function readJob(database: Database, name: string): Promise<JobRow | undefined> {
  const rows = await database.query<JobRow>(
    { name: 'read_job', text: `select ${columns} where job.name = $1` },
    [name],
  )
  return rows[0]
}

/** Index: jobs_pkey. */
export async function readJobsById(database: Database, ids: readonly number[]): Promise<JobRow[]> {
  return database.query<JobRow>(
    { name: 'read_jobs_by_id', text: `select ${columns} where job.id = any ($1::integer[])` },
    [ids],
  )
}

/** The names of the current and former queues of these jobs: runs may still wait in former ones. Index: jobs_name_key, queues_pkey. */
export async function readQueuesOfJobs(
  database: Database,
  jobNames: readonly string[],
): Promise<readonly string[]> {
  const rows = await database.query<{ name: string }>(
    {
      name: 'read_queues_of_jobs',
      text: `
        select distinct queue.name from holdfast_internal.jobs as job
        join holdfast_internal.queues as queue on queue.id = any (job.queue_id || job.former_queue_ids)
        where job.name = any ($1::text[]) order by 1`,
    },
    [jobNames],
  )
  return rows.map(({ name }) => name)
}

/** By name, after `afterName`. Index: jobs_name_key. */
export async function listJobs(database: Database, afterName: string, limit: number): Promise<JobRow[]> {
  return database.query<JobRow>(
    { name: 'list_jobs', text: `select ${columns} where job.name > $1 order by job.name limit $2` },
    [afterName, limit],
  )
}

/** Null removes an override. Index: jobs_name_key. */
export async function overrideJob(
  database: Database,
  name: string,
  changes: object,
  actor: string,
): Promise<void> {
  await database.query({ name: 'override_job', text: 'select holdfast_internal.override_job($1, $2, $3)' }, [
    name,
    JSON.stringify(changes),
    actor,
  ])
}

export async function setJobState(
  database: Database,
  name: string,
  state: 'active' | 'paused' | 'disabled',
  reason: string | null,
  actor: string,
): Promise<void> {
  await database.query(
    { name: 'set_job_state', text: 'select holdfast_internal.set_job_state($1, $2, $3, $4)' },
    [name, state, reason, actor],
  )
}

/** Index: runs_pkey; scans the runs of its queues. */
export async function deleteJob(database: Database, name: string, actor: string): Promise<void> {
  await database.query({ name: 'delete_job', text: 'select holdfast_internal.delete_job($1, $2)' }, [
    name,
    actor,
  ])
}

export interface QueueRow {
  readonly id: number
  readonly name: string
  readonly concurrency: number | null
  readonly rate_per_second: number | null
  readonly state: 'active' | 'paused'
  readonly state_reason: string | null
  readonly dead_letters: number
  readonly owed: number
  readonly oldest_waiting_since: Date | null
  readonly succeeded_per_minute: number
  readonly unhandled: readonly UnhandledRow[]
}

export interface UnhandledRow {
  readonly job: string
  readonly runs: number
  /** In PostgreSQL's JSON format of a time. */
  readonly since: string
}

/** Maximum number of rows of runs counted for each queue of a list. */
const maxCountedRuns = 1000

const queueColumns = `id, name, concurrency, rate_per_second, state, state_reason,
  holdfast_internal.open_letters_of(id)::float8 as dead_letters, holdfast_internal.owed_runs_to(id, ${maxCountedRuns})::float8 as owed,
  holdfast_internal.oldest_waiting_run(id) as oldest_waiting_since, holdfast_internal.succeeded_per_minute(id) as succeeded_per_minute,
  coalesce((
    select jsonb_agg(jsonb_build_object('job', lonely.job, 'runs', lonely.runs, 'since', lonely.since) order by lonely.job)
    from lonely where lonely.lane_id = queues.id
  ), '[]') as unhandled
  from holdfast_internal.queues`
const lonelyJobs = 'with lonely as materialized (select * from holdfast_internal.unhandled_jobs())'

/** Indexes: queues_name_key, those of unhandled_jobs, and for each queue those of open_letters_of, owed_runs_to, oldest_waiting_run and succeeded_per_minute. */
export async function listQueues(database: Database, limit: number): Promise<QueueRow[]> {
  return database.query<QueueRow>(
    { name: 'list_queues', text: `${lonelyJobs} select ${queueColumns} order by name limit $1` },
    [limit],
  )
}

/** Indexes: as `listQueues`. */
export async function readQueue(database: Database, name: string): Promise<QueueRow | undefined> {
  const rows = await database.query<QueueRow>(
    { name: 'read_queue', text: `${lonelyJobs} select ${queueColumns} where name = $1` },
    [name],
  )
  return rows[0]
}

export async function setQueueState(
  database: Database,
  name: string,
  state: 'active' | 'paused',
  reason: string | null,
  actor: string,
): Promise<void> {
  await database.query(
    { name: 'set_queue_state', text: 'select holdfast_internal.set_queue_state($1, $2, $3, $4)' },
    [name, state, reason, actor],
  )
}

/** Null removes a limit. */
export async function setQueueLimits(
  database: Database,
  name: string,
  limits: { readonly concurrency: number | null; readonly ratePerSecond: number | null },
  actor: string,
): Promise<void> {
  await database.query(
    { name: 'set_queue_limits', text: 'select holdfast_internal.set_queue_limits($1, $2, $3, $4)' },
    [name, limits.concurrency, limits.ratePerSecond, actor],
  )
}
