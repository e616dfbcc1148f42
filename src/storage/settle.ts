import { DatabaseError } from 'pg'
import type { AttemptClass } from '../core/delivery/attempt.ts'
import type { Database } from './database.ts'

/** The codes of attempts and endings in `attempts.outcome`. */
export const outcomeCodes = {
  success: 1,
  retryable: 2,
  permanent: 3,
  gone: 4,
  throttled: 5,
  interrupted: 6,
  expired: 10,
  cancelled: 11,
  dropped: 12,
  skipped: 13,
} as const satisfies Record<
  AttemptClass | 'interrupted' | 'expired' | 'cancelled' | 'dropped' | 'skipped',
  number
>

export interface SuccessRecord {
  readonly id: number
  readonly rowMessageId: number
  readonly laneId: number
  readonly routeId: number | null
  readonly attempt: number
  /** On our monotonic clock; the database converts the age to its own time. */
  readonly startedAtMs: number
  readonly durationMs: number
  readonly statusCode: number | null
  /** The request and the response, if the endpoint captures them. Cleared if the database rejects them. */
  detail?: object | null
  /** For observers of the commit; the database uses the row's own value. */
  readonly orderingKey: string | null
}

/** One decision. Field names are those that `holdfast_internal.failure_records` reads. */
export interface FailureRecord {
  readonly id: number
  readonly message: number
  readonly lane: number
  readonly epoch: number
  readonly route: number | null
  /** The number of this attempt, or of the last one if nothing was sent. */
  readonly attempt: number
  /** The attempt count that the row must still have. */
  readonly expected: number
  readonly outcome: number
  readonly status: number | null
  /** On our monotonic clock. */
  readonly startedAtMs: number
  readonly durationMs: number | null
  readonly errorCode: string | null
  readonly error: string | null
  readonly detail: object | null
  readonly action: 'retry' | 'dead' | 'drop' | 'expire' | 'cancel' | 'skip'
  readonly delayMs: number | null
  readonly reason: string | null
  readonly isProbe: boolean
  readonly isCounted: boolean
  readonly isTried: boolean
  readonly blocksKey: boolean
  /** For observers of the commit; the database uses the row's own value. */
  readonly orderingKey: string | null
}

export interface LaneTally {
  readonly lane: number
  readonly epoch: number
  readonly circuit: { readonly threshold: number; readonly cooldownMs: number }
  readonly tally: {
    readonly version: number
    readonly leading: number
    readonly longest: number
    readonly trailing: number
    readonly hasSuccess: boolean
    readonly holdMs: number
    readonly probe: { readonly token: string; readonly succeeded: boolean } | null
  }
  readonly health: {
    readonly permanents: readonly number[]
    readonly streak: number
    readonly streakAgeMs: number | null
  } | null
  readonly suspension: {
    readonly state: 'rejecting' | 'disabled'
    readonly reason: string
    readonly reenableAfterMs: number | null
  } | null
}

/** One value per record; an empty array if no record has one, which PostgreSQL fills with nulls. */
function column(
  records: readonly SuccessRecord[],
  valueOf: (record: SuccessRecord) => number | null,
): string {
  let literal = '{'
  let hasValue = false
  for (let index = 0; index < records.length; index++) {
    const record = records[index]
    if (record === undefined) continue
    const value = valueOf(record)
    hasValue ||= value !== null
    literal += index === 0 ? (value ?? 'NULL') : `,${value ?? 'NULL'}`
  }
  return hasValue ? `${literal}}` : '{}'
}

/** A single value if all records have the same: PostgreSQL uses the first one for the rest. */
function uniformColumn(
  records: readonly SuccessRecord[],
  valueOf: (record: SuccessRecord) => number,
): string {
  const [first] = records
  if (first === undefined) return '{}'
  const value = valueOf(first)
  for (const record of records) if (valueOf(record) !== value) return column(records, valueOf)
  return `{${value}}`
}

/** The results of settling failures and tallies. */
export interface SettledBatch {
  /** Deliveries whose decision was refused, because their lane has another owner. */
  readonly refused: readonly number[]
  /** Lanes whose circuit, hold or state has changed, or may have. */
  readonly changedLanes: readonly number[]
}

/** The batch number ensures that a batch repeated after a lost response counts once for the circuits. */
export interface BatchMark {
  readonly number: number
  readonly nowMs: number
}

function successColumns(records: readonly SuccessRecord[], nowMs: number): string[] {
  return [
    column(records, (record) => record.id),
    // A message and its first delivery have the same id; in that case the array is empty.
    column(records, (record) => (record.rowMessageId === record.id ? null : record.rowMessageId)),
    uniformColumn(records, (record) => record.laneId),
    column(records, (record) => record.routeId),
    uniformColumn(records, (record) => record.attempt),
    uniformColumn(records, (record) => Math.round(nowMs - record.startedAtMs)),
    uniformColumn(records, (record) => record.durationMs),
    column(records, (record) => record.statusCode),
  ]
}

function failureColumns(records: readonly FailureRecord[], nowMs: number): string {
  return JSON.stringify(
    records.map((record) => ({ ...record, ageMs: Math.round(nowMs - record.startedAtMs) })),
  )
}

const uniqueViolation = '23505'

/**
 * Removes delivered rows and records them. No lease is required. Indexes: deliveries_pkey, attempts_pkey.
 *
 * The fast statement fails if a failure with the same attempt number exists, whose decision was refused because the shard was lost for a moment;
 * the other statement replaces that failure.
 */
export async function settleSuccesses(
  database: Database,
  incarnation: number,
  records: readonly SuccessRecord[],
  nowMs: number,
): Promise<void> {
  const values = [incarnation, ...successColumns(records, nowMs)]
  try {
    await withDetails(database, incarnation, records, (one) =>
      one.queryArrays(
        {
          name: 'settle_successes',
          text: 'select holdfast_internal.settle_successes($1, $2, $3, $4, $5, $6, $7, $8, $9)',
        },
        values,
      ),
    )
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== uniqueViolation) throw error
    await withDetails(database, incarnation, records, (one) =>
      one.queryArrays(
        {
          name: 'settle_repeated_successes',
          text: 'select holdfast_internal.settle_repeated_successes($1, $2, $3, $4, $5, $6, $7, $8, $9)',
        },
        values,
      ),
    )
  }
}

/** Stores the requests and responses of successes in the transaction that records them. Most have none: then it is one statement. Index: attempts_pkey. */
async function withDetails<Result>(
  database: Database,
  incarnation: number,
  records: readonly SuccessRecord[],
  settle: (database: Database) => Promise<Result>,
): Promise<Result> {
  const detailed = records.filter(({ detail }) => detail !== undefined && detail !== null)
  if (detailed.length === 0) return settle(database)
  return database.asOne(async (one) => {
    const result = await settle(one)
    await one.query({ name: 'record_details', text: 'select holdfast_internal.record_details($1, $2)' }, [
      incarnation,
      JSON.stringify(detailed.map(({ id, attempt, detail }) => ({ id, attempt, detail }))),
    ])
    return result
  })
}

/**
 * Records attempts and executes decisions, if this incarnation still owns the lane under that epoch.
 * Indexes: deliveries_pkey, attempts_pkey, shard_leases_pkey.
 */
export async function settleFailures(
  database: Database,
  incarnation: number,
  records: readonly FailureRecord[],
  tallies: readonly LaneTally[],
  batch: BatchMark,
): Promise<SettledBatch> {
  const rows = await database.query<SettledRow>(
    {
      name: 'settle_failures',
      text: 'select refused, changed from holdfast_internal.settle_failures($1, $2, $3, $4)',
    },
    [incarnation, batch.number, failureColumns(records, batch.nowMs), JSON.stringify(tallies)],
  )
  return toSettledBatch(rows)
}

/** `settleSuccesses` and `settleFailures` in one transaction. */
export async function settleAll(
  database: Database,
  incarnation: number,
  successes: readonly SuccessRecord[],
  failures: readonly FailureRecord[],
  tallies: readonly LaneTally[],
  batch: BatchMark,
): Promise<SettledBatch> {
  const rows = await withDetails(database, incarnation, successes, (one) =>
    one.query<SettledRow>(
      {
        name: 'settle_all',
        text: 'select refused, changed from holdfast_internal.settle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
      },
      [
        incarnation,
        ...successColumns(successes, batch.nowMs),
        batch.number,
        failureColumns(failures, batch.nowMs),
        JSON.stringify(tallies),
      ],
    ),
  )
  return toSettledBatch(rows)
}

interface SettledRow {
  readonly refused: number[] | null
  readonly changed: number[] | null
}

function toSettledBatch(rows: readonly SettledRow[]): SettledBatch {
  return { refused: rows[0]?.refused ?? [], changedLanes: rows[0]?.changed ?? [] }
}

/** Quarantines a record that PostgreSQL rejects, so that an operator can inspect it and it doesn't block the others. */
export async function quarantineRecord(
  database: Database,
  incarnation: number,
  record: SuccessRecord | FailureRecord,
  error: string,
): Promise<void> {
  const isSuccess = 'laneId' in record
  await database.query(
    {
      name: 'quarantine_record',
      text: `
        insert into holdfast_internal.quarantine (delivery_id, lane_id, incarnation, record, error)
        values ($1, $2, $3, jsonb_build_object('record', $4::text), $5)`,
    },
    [
      record.id,
      isSuccess ? record.laneId : record.lane,
      incarnation,
      JSON.stringify(isSuccess ? plainSuccess(record) : record).replaceAll('\\u0000', ''),
      error,
    ],
  )
}

/** The record may be the delivery itself, most of whose fields an operator doesn't need. */
function plainSuccess({ id, rowMessageId, laneId, routeId, attempt, durationMs, statusCode }: SuccessRecord) {
  return { id, message: rowMessageId, lane: laneId, route: routeId, attempt, durationMs, status: statusCode }
}
