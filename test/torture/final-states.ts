import type { Pool } from 'pg'
import { replayEndpoint } from './receivers.ts'

/** What the database says of one message's delivery in the end. */
export interface FinalState {
  readonly id: string
  readonly isOwed: boolean
  readonly successes: number
  readonly failures: number
  readonly isExpired: boolean
  readonly isCancelled: boolean
  readonly letter: DeadLetterState | null
}

export interface DeadLetterState {
  readonly state: string
  readonly reason: string
  readonly error: string | null
  readonly attempt: number
  readonly recordedAttempts: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>> | null
}

export interface ProbeAttempt {
  readonly id: string
  readonly endpoint: string
  readonly attempt: number
}

/** A row of `attempts` that says: delivered. */
export interface RecordedSuccess {
  /** What the receiver knew it by. */
  readonly webhookId: string
  readonly lane: number
  /** Null: there is no such endpoint any more. */
  readonly endpoint: string | null
}

/** A result that PostgreSQL would not take. */
export interface QuarantinedRecord {
  readonly deliveryId: string
  readonly error: string
}

/** What became of a run, by the number in its input. */
export interface FinalRun {
  readonly n: number
  readonly isOwed: boolean
  readonly isDead: boolean
  readonly successes: number
}

/** One row a message: everything that is stored is read once, at the end. Replays are deliveries of their own and don't count here. */
export async function readFinalStates(pool: Pool): Promise<Map<string, FinalState>> {
  const { rows } = await pool.query<FinalState>(
    `
    with tried as (
      select message_id, (count(*) filter (where outcome = 1))::int as successes,
             (count(*) filter (where outcome between 2 and 5))::int as failures,
             coalesce(bool_or(outcome = 10), false) as is_expired, coalesce(bool_or(outcome = 11), false) as is_cancelled
      from holdfast_internal.attempts
      where lane_id <> (select id from holdfast_internal.endpoints where name = $1) group by message_id
    ), owed as (select distinct message_id from holdfast_internal.deliveries where replay_id is null)
    select holdfast.format_id('msg', message.id) as id, owed.message_id is not null as "isOwed",
           coalesce(tried.successes, 0) as successes, coalesce(tried.failures, 0) as failures,
           coalesce(tried.is_expired, false) as "isExpired", coalesce(tried.is_cancelled, false) as "isCancelled",
           case when letter.id is not null then jsonb_build_object(
             'state', letter.state, 'reason', letter.reason, 'error', letter.error, 'attempt', letter.attempt,
             'recordedAttempts', jsonb_array_length(letter.attempts), 'body', message.body, 'headers', message.headers
           ) end as letter
    from holdfast_internal.messages as message
    left join tried on tried.message_id = message.id
    left join owed on owed.message_id = message.id
    left join holdfast_internal.dead_letters as letter on letter.message_id = message.id and letter.replay_id is null`,
    [replayEndpoint],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

export async function readProbes(pool: Pool): Promise<ProbeAttempt[]> {
  const { rows } = await pool.query<ProbeAttempt>(`
    select holdfast.format_id('msg', attempt.message_id) as id, endpoint.name as endpoint, attempt.attempt
    from holdfast_internal.attempts as attempt join holdfast_internal.endpoints as endpoint on endpoint.id = attempt.lane_id
    where attempt.is_probe`)
  return rows
}

/** Queues are lanes too: what workers did isn't for the receivers to confirm. */
export async function readSuccesses(pool: Pool): Promise<RecordedSuccess[]> {
  const { rows } = await pool.query<RecordedSuccess>(
    `select holdfast.format_id('msg', case when endpoint.name = $1 then attempt.delivery_id else attempt.message_id end) as "webhookId",
            attempt.lane_id as lane, endpoint.name as endpoint
     from holdfast_internal.attempts as attempt left join holdfast_internal.endpoints as endpoint on endpoint.id = attempt.lane_id
     where attempt.outcome = 1 and attempt.lane_id not in (select id from holdfast_internal.queues)`,
    [replayEndpoint],
  )
  return rows
}

export async function readQuarantine(pool: Pool): Promise<QuarantinedRecord[]> {
  const { rows } = await pool.query<QuarantinedRecord>(
    `select holdfast.format_id('dlv', delivery_id) as "deliveryId", error from holdfast_internal.quarantine order by id`,
  )
  return rows
}

/** Lanes that a safety net found: something was due on them, and nobody was about to read it. */
export async function readRevivals(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ found: string }>(
    `select concat_ws(' ', at, subject, detail) as found from holdfast_internal.audit_log where action = 'lane.revived' order by id`,
  )
  return rows.map(({ found }) => found)
}

/** The lanes of the endpoints that there still are. */
export async function readLanes(pool: Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ name: string; id: number }>(
    'select name, id from holdfast_internal.endpoints',
  )
  return new Map(rows.map(({ name, id }) => [name, id]))
}

export async function readMessagePartitions(pool: Pool): Promise<{ partition: string; rows: number }[]> {
  const { rows } = await pool.query<{ partition: string; rows: number }>(
    `select tableoid::regclass::text as partition, count(*)::int as rows from holdfast_internal.messages group by 1 order by 1`,
  )
  return rows
}

/** The ids under which replays were delivered. What a crash sent twice has two successes, each a fact of its own. */
export async function readReplays(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select distinct holdfast.format_id('msg', delivery_id) as id from holdfast_internal.attempts
     where outcome = 1 and lane_id = (select id from holdfast_internal.endpoints where name = $1)`,
    [replayEndpoint],
  )
  return rows.map(({ id }) => id)
}

/** How many messages are stored for each key of those who publish over HTTP. */
export async function readMessagesByKey(pool: Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ key: string; stored: number }>(
    `select body ->> 'apiKey' as key, count(*)::int as stored from holdfast_internal.messages where body ->> 'apiKey' is not null group by 1`,
  )
  return new Map(rows.map(({ key, stored }) => [key, stored]))
}

/** What became of all runs, each table read once: `attempts` has no index by message that would serve so many. */
export const runFacts = `
  with owed as (select distinct id from holdfast_internal.owed_runs),
       tried as (select message_id, count(*)::int as successes from holdfast_internal.attempts where outcome = 1 group by 1),
       buried as (select distinct message_id from holdfast_internal.dead_letters)`
export const runFactColumns = `
  owed.id is not null as "isOwed", buried.message_id is not null as "isDead", coalesce(tried.successes, 0) as successes`
export const runFactJoins = `
  left join owed on owed.id = message.id left join tried on tried.message_id = message.id
  left join buried on buried.message_id = message.id`

export async function readRuns(pool: Pool): Promise<Map<number, FinalRun>> {
  const { rows } = await pool.query<FinalRun>(`
    ${runFacts}
    select (message.body ->> 'n')::int as n, ${runFactColumns}
    from holdfast_internal.messages as message ${runFactJoins} where message.body ->> 'does' is not null`)
  return new Map(rows.map((row) => [row.n, row]))
}
