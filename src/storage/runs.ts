import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

export type RunStateName =
  | 'scheduled'
  | 'waiting'
  | 'running'
  | 'succeeded'
  | 'failed'
  | 'timed_out'
  | 'cancelled'
  | 'expired'

export interface RunRow {
  readonly id: number
  readonly message_id: number
  readonly job: string | null
  readonly queue: string
  readonly state: RunStateName
  readonly attempt: number
  readonly crashes: number
  /** Null after the run's end, unless it became a dead letter. */
  readonly priority: number | null
  readonly due_at: Date | null
  readonly expires_at: Date | null
  readonly worker: string | null
  readonly target: string | null
  readonly created_at: Date | null
  readonly ended_at: Date | null
  readonly error: string | null
  readonly error_code: string | null
  /** Null: none was given. */
  readonly correlation_id: string | null
  /** The run waits, its job and queue are active, and no live worker has a handler for it. */
  readonly is_unhandled: boolean
}

export interface RunAttemptRow {
  readonly attempt: number
  readonly started_at: Date
  readonly duration_ms: number | null
  readonly outcome: number
  readonly error_code: string | null
  readonly error: string | null
  readonly worker: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

export interface RunDetailRow extends RunRow {
  /** JSON text with all digits; null if the message is gone. */
  readonly payload: string | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly progress: unknown
  readonly logs: readonly unknown[] | null
  readonly dead_letter_id: number | null
  readonly redriven_run_id: number | null
  readonly attempts: readonly RunAttemptRow[]
}

const columns = `id, message_id, job, queue, state, attempt, crashes, priority, due_at, expires_at, worker, target, created_at, ended_at, error,
  error_code`

/** Indexes: runs_pkey, attempts_pkey, dead_letters_delivery_id_key, messages_pkey, run_progress_pkey. */
export async function readRun(database: Database, id: number): Promise<RunDetailRow | undefined> {
  const rows = await database.query<RunDetailRow>(
    {
      name: 'read_run',
      text: `
        with known as materialized (select ${columns} from holdfast_internal.describe_runs(array[$1::bigint]))
        select known.*, message.body::text as payload, message.correlation_id, message.headers,
          message.metadata, progress.progress, progress.logs,
          letter.id as dead_letter_id, letter.redriven_delivery_id as redriven_run_id,
          known.state = 'waiting' and holdfast_internal.is_unhandled(known.job, known.queue) as is_unhandled,
          (select coalesce(jsonb_agg(jsonb_build_object(
             'attempt', attempt, 'started_at', started_at, 'duration_ms', duration_ms, 'outcome', outcome, 'error_code', error_code,
             'error', error, 'worker', case when duration_ms is not null or outcome = 6 then holdfast_internal.worker_name(incarnation) end, 'detail', detail) order by attempt, started_at), '[]')
           from holdfast_internal.attempts_of(array[known.id], 2147483647)) as attempts
        from known left join lateral (
          select body, correlation_id, headers, metadata from holdfast_internal.messages where id = known.message_id
          union all select body, correlation_id, headers, metadata from holdfast_internal.messages_kept where id = known.message_id limit 1
        ) as message on true
        -- The letter belongs to the first run; redrives have its message.
        left join lateral (
          select id, redriven_delivery_id from holdfast_internal.dead_letters where delivery_id = known.message_id limit 1
        ) as letter on true
        -- What has ended has it in its attempt.
        left join holdfast_internal.run_progress as progress on progress.run_id = known.id and known.state = 'running' and progress.attempt = known.attempt`,
    },
    [id],
  )
  return rows[0]
}

/** In the order of the ids given; ids that are not runs are left out. Indexes: see holdfast_internal.describe_runs; messages_pkey, messages_kept_pkey; jobs_name_key, queues_name_key. */
export async function readRunRecords(database: Database, ids: readonly number[]): Promise<RunRow[]> {
  return database.query<RunRow>(
    {
      name: 'read_run_records',
      text: `
        with run as materialized (select ${columns} from holdfast_internal.describe_runs($1::bigint[])),
        -- Asked once for each job and queue, of which a page has few.
        line as materialized (
          select job, queue, holdfast_internal.is_unhandled(job, queue) as is_unhandled
          from (select distinct job, queue from run where state = 'waiting') as waiting
        )
        select run.*, message.correlation_id, coalesce(line.is_unhandled, false) as is_unhandled
        from run left join line on run.state = 'waiting' and line.job = run.job and line.queue = run.queue
        left join lateral (
          select correlation_id from holdfast_internal.messages where id = run.message_id
          union all select correlation_id from holdfast_internal.messages_kept where id = run.message_id limit 1
        ) as message on true
        order by array_position($1::bigint[], run.id)`,
    },
    [numberArray(ids)],
  )
}

/**
 * 'cancelled': the run ended at once; 'requested': its handler is signalled; null: the run has ended already. Indexes: runs_pkey, run_claims_lane.
 */
export async function cancelRun(
  database: Database,
  id: number,
  reason: string | null,
  actor: string,
): Promise<'cancelled' | 'requested' | null> {
  const rows = await database.query<{ result: 'cancelled' | 'requested' | null }>(
    { name: 'cancel_run', text: 'select holdfast_internal.cancel_run($1, $2, $3) as result' },
    [id, reason, actor],
  )
  return rows[0]?.result ?? null
}

/** Makes a waiting run due now; false: the run isn't waiting for a time. Index: runs_pkey. */
export async function hastenRun(database: Database, id: number, actor: string): Promise<boolean> {
  const rows = await database.query<{ is_hastened: boolean }>(
    { name: 'hasten_run', text: 'select holdfast_internal.hasten_run($1, $2) as is_hastened' },
    [id, actor],
  )
  return rows[0]?.is_hastened ?? false
}

/** The number of unfinished runs of a queue; above 100,000, the count of the last minute. Indexes: see holdfast_internal.owed_rows. */
export async function countOwedRuns(database: Database, queue: string): Promise<number> {
  const rows = await database.query<{ owed: number }>(
    {
      name: 'count_owed_runs',
      text: `
        select holdfast_internal.count_owed_runs(id)::integer as owed from holdfast_internal.queues where name = $1`,
    },
    [queue],
  )
  return rows[0]?.owed ?? 0
}
