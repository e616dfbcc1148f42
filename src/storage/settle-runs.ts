import { numberArray, numberSet } from './array-literal.ts'
import type { Database } from './database.ts'

/** The result of one run; stored in the journal unchanged. */
export interface RunRecord {
  readonly id: number
  readonly message: number
  readonly claim: number
  readonly lane: number
  /** The number of this attempt, or of the last one if the run was not executed. */
  readonly attempt: number
  /** The attempt count that the row must still have. */
  readonly expected: number
  readonly action: 'succeed' | 'retry' | 'dead' | 'expire' | 'cancel' | 'release'
  readonly outcome: number
  /** By this machine's wall clock, so that the record is valid in another process; only its age is used. */
  readonly startedAtMs: number
  readonly durationMs: number | null
  readonly errorCode: string | null
  readonly error: string | null
  /** Result, log lines, progress; null if there are none. */
  readonly detail: object | null
  readonly delayMs: number | null
  readonly reason: string | null
  readonly isTried: boolean
}

function uniform(values: readonly number[]): string {
  const [first] = values
  return first === undefined || values.some((value) => value !== first) ? numberArray(values) : `{${first}}`
}

/** Removes successful runs and records them. No claim is required. Indexes: runs_pkey, attempts_pkey, run_claims_pkey. */
export async function settleRunSuccesses(
  database: Database,
  worker: number,
  records: readonly RunRecord[],
  endedClaims: readonly number[],
  nowMs: number,
): Promise<void> {
  const ids = records.map(({ id }) => id)
  const hasDetails = records.some(({ detail }) => detail !== null)
  await database.queryArrays(
    {
      name: 'settle_run_successes',
      text: 'select holdfast_internal.settle_run_successes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
    },
    [
      worker,
      numberArray(ids),
      numberSet(ids),
      numberArray([...new Set(records.map(({ claim }) => claim))]),
      records.some(({ id, message }) => id !== message)
        ? numberArray(records.map(({ message }) => message))
        : '{}',
      uniform(records.map(({ lane }) => lane)),
      uniform(records.map(({ attempt }) => attempt)),
      uniform(records.map(({ startedAtMs }) => Math.max(0, Math.round(nowMs - startedAtMs)))),
      uniform(records.map(({ durationMs }) => durationMs ?? 0)),
      hasDetails ? records.map(({ detail }) => (detail === null ? null : JSON.stringify(detail))) : '{}',
      numberArray(endedClaims),
    ],
  )
}

/** Records attempts and executes decisions, if the claim still includes the run. Returns the runs whose decision was refused. */
export async function settleRunFailures(
  database: Database,
  worker: number,
  records: readonly RunRecord[],
  endedClaims: readonly number[],
  nowMs: number,
): Promise<readonly number[]> {
  const rows = await database.query<{ refused: number[] | null }>(
    {
      name: 'settle_run_failures',
      text: 'select holdfast_internal.settle_run_failures($1, $2, $3) as refused',
    },
    [
      worker,
      JSON.stringify(
        records.map((record) => ({ ...record, ageMs: Math.max(0, Math.round(nowMs - record.startedAtMs)) })),
      ),
      numberArray(endedClaims),
    ],
  )
  return rows[0]?.refused ?? []
}

/**
 * Quarantines a record that PostgreSQL rejects in any form, so that an operator can inspect it. Returns
 * the run's correlation id. Index: messages_pkey.
 */
export async function quarantineRun(
  database: Database,
  worker: number,
  record: RunRecord,
  error: string,
): Promise<string | undefined> {
  const rows = await database.query<{ correlationId: string }>(
    {
      name: 'quarantine_run',
      text: `
        insert into holdfast_internal.quarantine (delivery_id, lane_id, incarnation, record, error)
        values ($1, $2, $3, jsonb_build_object('record', $4::text), $5)
        returning holdfast_internal.correlation_of($6) as "correlationId"`,
    },
    [record.id, record.lane, worker, JSON.stringify(record).replaceAll('\\u0000', ''), error, record.message],
  )
  return rows[0]?.correlationId
}

export interface ProgressEntry {
  readonly id: number
  readonly attempt: number
  readonly progress: unknown
  readonly logs: readonly unknown[]
}

/** Progress and log lines of running runs. Index: run_progress_pkey. */
export async function recordProgress(
  database: Database,
  worker: number,
  entries: readonly ProgressEntry[],
): Promise<void> {
  await database.query(
    { name: 'record_progress', text: 'select holdfast_internal.record_progress($1, $2)' },
    [worker, JSON.stringify(entries)],
  )
}

/** Deletes progress that is now part of the attempt. Index: run_progress_pkey. */
export async function clearProgress(database: Database, runIds: readonly number[]): Promise<void> {
  await database.query(
    {
      name: 'clear_progress',
      text: 'delete from holdfast_internal.run_progress where run_id = any ($1::bigint[])',
    },
    [numberArray(runIds)],
  )
}
