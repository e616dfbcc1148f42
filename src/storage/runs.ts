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
  readonly priority: number
  readonly due_at: Date | null
  readonly expires_at: Date | null
  readonly worker: string | null
  readonly target: string | null
  readonly created_at: Date | null
  readonly ended_at: Date | null
  readonly error: string | null
  readonly error_code: string | null
}

export interface RunAttemptRow {
  readonly attempt: number
  readonly started_at: Date
  readonly duration_ms: number | null
  readonly outcome: number
  readonly error_code: string | null
  readonly error: string | null
  readonly detail: Readonly<Record<string, unknown>> | null
}

export interface RunDetailRow extends RunRow {
  /** JSON text, every digit of it; null when the message is gone. */
  readonly payload: string | null
  readonly correlation_id: string | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly progress: unknown
  readonly logs: readonly unknown[] | null
  readonly dead_letter_id: number | null
  readonly attempts: readonly RunAttemptRow[]
}

/** Runs that are owed: those of the table, or others in its form, and who holds each. */
const owed = (source: string, holder: string) => `
  select run.id, coalesce(run.message_id, run.id) as message_id, job.name as job, queue.name as queue,
    case when holder.worker is not null then 'running' when run.due_at > now() and run.due_at < 'infinity' then 'scheduled'
         else 'waiting' end as state,
    run.attempt, run.crashes, run.priority, case when run.due_at < 'infinity' then run.due_at end as due_at, run.expires_at,
    worker.name as worker, run.target, holdfast_internal.time_of_id(run.id) as created_at, null::timestamptz as ended_at, null::text as error,
    null::text as error_code
  from ${source} as run
  join holdfast_internal.jobs as job on job.id = run.job_id
  join holdfast_internal.queues as queue on queue.id = run.lane_id
  cross join lateral (select ${holder} as worker) as holder
  left join holdfast_internal.workers as worker on worker.incarnation = holder.worker`

const owedRows = owed('holdfast_internal.runs', 'holdfast_internal.holder_of_run(run.id)')

/** Those of bundles. They name the claim that holds them: looking through the claims for each would take a page 0.1 s with 500 of them. */
const owedInBundles = (range: string) =>
  owed(
    `holdfast_internal.bundled_runs(${range})`,
    '(select claim.worker from holdfast_internal.run_claims as claim where claim.id = run.claim_id)',
  )

/** Runs that have ended, by their last attempt or their dead letter. */
const ended = `
  select last.delivery_id as id, last.message_id, null::text as job, queue.name as queue,
    case when last.outcome = 1 then 'succeeded' when last.outcome = 10 then 'expired' when last.outcome = 11 then 'cancelled'
         when coalesce(letter.reason, last.error_code) = 'timed_out' then 'timed_out' else 'failed' end as state,
    last.attempt, 0::smallint as crashes, coalesce(letter.priority, 0::smallint) as priority, null::timestamptz as due_at,
    null::timestamptz as expires_at, null::text as worker, null::text as target, holdfast_internal.time_of_id(last.delivery_id) as created_at,
    coalesce(letter.created_at, last.started_at + make_interval(secs => coalesce(last.duration_ms, 0) / 1000.0)) as ended_at,
    coalesce(letter.error, last.error) as error, coalesce(letter.error_code, last.error_code) as error_code
  from holdfast_internal.attempts as last
  join holdfast_internal.queues as queue on queue.id = last.lane_id
  left join holdfast_internal.dead_letters as letter on letter.delivery_id = last.delivery_id
  where not exists (select from holdfast_internal.runs where id = last.delivery_id)
    and not exists (
      select from holdfast_internal.attempts as later where later.delivery_id = last.delivery_id
        and (later.outcome = 1, later.attempt, later.incarnation) > (last.outcome = 1, last.attempt, last.incarnation)
    )`

/** Runs that were buried before anybody tried them. */
const untried = `
  select letter.delivery_id as id, letter.message_id, null::text as job, queue.name as queue, 'failed' as state, letter.attempt,
    0::smallint as crashes, letter.priority, null::timestamptz as due_at, null::timestamptz as expires_at, null::text as worker,
    null::text as target, holdfast_internal.time_of_id(letter.delivery_id) as created_at, letter.created_at as ended_at, letter.error, letter.error_code
  from holdfast_internal.dead_letters as letter join holdfast_internal.queues as queue on queue.id = letter.lane_id
  where not exists (select from holdfast_internal.attempts as tried where tried.delivery_id = letter.delivery_id)
    and not exists (select from holdfast_internal.runs where id = letter.delivery_id)`

const stored = `
  left join lateral (
    select type, body, correlation_id, headers, metadata from holdfast_internal.messages where id = known.message_id
    union all select type, body, correlation_id, headers, metadata from holdfast_internal.messages_kept where id = known.message_id limit 1
  ) as message on true`

/** Indexes: runs_pkey, attempts_pkey, dead_letters_delivery_id_key, messages_pkey, run_progress_pkey. */
export async function readRun(database: Database, id: number): Promise<RunDetailRow | undefined> {
  const rows = await database.query<RunDetailRow>(
    {
      name: 'read_run',
      text: `
        with known as (
          (${owedRows} where run.id = $1)
          union all (${owedInBundles('null, null, $1::bigint + 1, 1, $1')} where run.id = $1)
          union all (${ended} and last.delivery_id = $1) union all (${untried} and letter.delivery_id = $1) limit 1
        )
        select known.*, coalesce(known.job, message.type) as job, message.body::text as payload, message.correlation_id, message.headers,
          message.metadata, progress.progress, progress.logs,
          (select letter.id from holdfast_internal.dead_letters as letter where letter.delivery_id = known.id) as dead_letter_id,
          (select coalesce(jsonb_agg(jsonb_build_object(
             'attempt', attempt, 'started_at', started_at, 'duration_ms', duration_ms, 'outcome', outcome, 'error_code', error_code,
             'error', error, 'detail', detail) order by attempt, started_at), '[]')
           from holdfast_internal.attempts where delivery_id = known.id) as attempts
        from known ${stored}
        left join holdfast_internal.run_progress as progress on progress.run_id = known.id`,
    },
    [id],
  )
  return rows[0]
}

export interface RunFilter {
  readonly queue: string | null
  readonly job: string | null
  readonly state: RunStateName | null
  readonly beforeId: number
  readonly limit: number
}

/** The newest first, before `beforeId`. Indexes: runs_pkey, attempts_lane, dead_letters_lane. */
export async function listRuns(database: Database, filter: RunFilter): Promise<RunRow[]> {
  return database.query<RunRow>(
    {
      name: 'list_runs',
      text: `
        with lanes as materialized (
          select id from holdfast_internal.queues where ($1::text is null or name = $1)
            and ($2::text is null or id in (select queue_id from holdfast_internal.jobs where name = $2))
        ), known as (
          (${owedRows} where run.lane_id in (select id from lanes) and run.id < $4 and ($2::text is null or job.name = $2)
           order by run.id desc limit $5 * 4)
          union all
          (${owedInBundles('array(select id from lanes), (select id from holdfast_internal.jobs where name = $2), $4, $5 * 4')})
          union all
          (${ended} and last.lane_id in (select id from lanes) and last.delivery_id < $4 order by last.delivery_id desc limit $5 * 4)
          union all
          (${untried} and letter.lane_id in (select id from lanes) and letter.delivery_id < $4 order by letter.delivery_id desc limit $5 * 4)
        )
        select known.*, coalesce(known.job, message.type) as job from known ${stored}
        where ($2::text is null or coalesce(known.job, message.type) = $2) and ($3::text is null or known.state = $3)
        order by known.id desc limit $5`,
    },
    [filter.queue, filter.job, filter.state, filter.beforeId, filter.limit],
  )
}

/** 'cancelled': it ended at once; 'requested': its handler is told; null: it isn't owed. Indexes: runs_pkey, run_claims_lane. */
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

/** Makes a waiting run due now; false: it isn't waiting for a time. Index: runs_pkey. */
export async function hastenRun(database: Database, id: number, actor: string): Promise<boolean> {
  const rows = await database.query<{ is_hastened: boolean }>(
    { name: 'hasten_run', text: 'select holdfast_internal.hasten_run($1, $2) as is_hastened' },
    [id, actor],
  )
  return rows[0]?.is_hastened ?? false
}

/** How many runs the queue owes; rows are counted to a million. */
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
