import { queryWithDeadline } from '../postgres/deadline.ts'
import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'
import { type FoundIds, maxScannedPerPage } from './page.ts'

export type OperationKind = 'redrive' | 'resolve' | 'discard' | 'replay' | 'retry' | 'cancel' | 'cancel_runs'
export type OperationState = 'running' | 'paused' | 'succeeded' | 'failed' | 'cancelled'

export interface OperationRecord {
  readonly id: number
  readonly kind: OperationKind
  readonly filter: Record<string, unknown>
  readonly options: Record<string, unknown>
  readonly asOfAt: Date
  readonly state: OperationState
  readonly total: number
  readonly isTotalExact: boolean
  readonly done: number
  readonly skipped: number
  readonly ratePerSecond: number | null
  readonly waiting: string | null
  readonly node: string | null
  readonly error: string | null
  readonly createdBy: string
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

const columns = `id, kind, filter, options, as_of_at as "asOfAt", state, total, is_total_exact as "isTotalExact", done, skipped, rate_per_second as "ratePerSecond", waiting, node,
  error, created_by as "createdBy", created_at as "createdAt", started_at as "startedAt", finished_at as "finishedAt"`

export interface OperationRequest {
  readonly kind: OperationKind
  readonly filter: object
  readonly options: object
  readonly asOf: string | null
}

/** A step is bounded and takes a fraction of a second, unless the server is overloaded. */
const stepTimeoutMs = 60_000
/** Another session may hold a row lock in an open transaction; other operations must not wait for it. */
const stepLockTimeoutMs = 1000
/** The server times out first; this much longer covers a server that doesn't answer at all. */
const answerGraceMs = 5000

/** The items that an operation would affect, counted up to a limit. Indexes: see holdfast_internal.operation_targets. */
export async function previewOperation(
  database: Database,
  request: OperationRequest,
): Promise<{ readonly total: number; readonly isExact: boolean; readonly asOf: string }> {
  const rows = await database.query<{ total: number; isExact: boolean; asOf: string }>(
    {
      name: 'preview_operation_v2',
      text: 'select total, is_exact as "isExact", as_of as "asOf" from holdfast_internal.preview_operation_v2($1, $2, $3, $4)',
    },
    [request.kind, JSON.stringify(request.filter), JSON.stringify(request.options), request.asOf],
  )
  const [preview] = rows
  if (preview === undefined) throw new Error('preview_operation_v2 returned no row')
  return preview
}

export async function createOperation(
  database: Database,
  request: OperationRequest & { readonly ratePerSecond: number | null },
  actor: string,
): Promise<number> {
  const rows = await database.query<{ id: number }>(
    {
      name: 'create_operation',
      text: 'select holdfast_internal.create_operation($1, $2, $3, $4, $5, $6) as id',
    },
    [
      request.kind,
      JSON.stringify(request.filter),
      JSON.stringify(request.options),
      request.ratePerSecond,
      request.asOf,
      actor,
    ],
  )
  return rows[0]?.id ?? 0
}

/** Index: operations_pkey. */
export async function readOperation(database: Database, id: number): Promise<OperationRecord | undefined> {
  const rows = await database.query<OperationRecord>(
    { name: 'read_operation', text: `select ${columns} from holdfast_internal.operations where id = $1` },
    [id],
  )
  return rows[0]
}

/**
 * Newest first, before an id. Indexes: operations_pkey, operations_kind, operations_state (compared as rows, so that no other index has this order).
 */
export async function listOperations(
  database: Database,
  before: number,
  { state, kind }: { readonly state: OperationState | null; readonly kind: OperationKind | null },
  maxRows: number,
): Promise<OperationRecord[]> {
  const from = `select ${columns} from holdfast_internal.operations`
  if (kind !== null) {
    const text = `${from} where (kind, id) < ($3::text, $1) and (kind, id) >= ($3::text, 0) and ($4::text is null or state = $4)
      order by operations.kind desc, id desc limit $2`
    return database.query<OperationRecord>({ name: 'list_operations_of', text }, [
      before,
      maxRows,
      kind,
      state,
    ])
  }
  if (state === null) {
    const text = `${from} where id < $1 order by id desc limit $2`
    return database.query<OperationRecord>({ name: 'list_operations', text }, [before, maxRows])
  }
  const text = `${from} where (state, id) < ($3::text, $1) and (state, id) >= ($3::text, 0) order by operations.state desc, id desc limit $2`
  return database.query<OperationRecord>({ name: 'list_operations_in', text }, [before, maxRows, state])
}

export interface OperationOutcome {
  readonly delivered: number
  readonly waiting: number
  readonly failed: number
  readonly gone: number
  readonly isComplete: boolean
}

/** The outcomes of an operation's redeliveries, among the first `maxRows`. Indexes: see holdfast_internal.operation_outcome. */
export async function readOperationOutcome(
  database: Database,
  id: number,
  maxRows: number,
): Promise<OperationOutcome> {
  const rows = await database.query<OperationOutcome>(
    {
      name: 'read_operation_outcome',
      text: `select delivered, waiting, failed, gone, is_complete as "isComplete" from holdfast_internal.operation_outcome($1, $2)`,
    },
    [id, maxRows],
  )
  const [outcome] = rows
  if (outcome === undefined) throw new Error('operation_outcome returned no row')
  return outcome
}

/** Dead letters that an operation left unchanged, newest first. Indexes: see holdfast_internal.skipped_letters. */
export async function findSkippedLetters(
  database: Database,
  id: number,
  before: number,
  maxRows: number,
): Promise<FoundIds> {
  const rows = await database.query<FoundIds>(
    {
      name: 'skipped_letters',
      text: 'select ids, scanned_to as "scannedTo" from holdfast_internal.skipped_letters($1, $2, $3, $4)',
    },
    [id, before, maxRows, maxScannedPerPage],
  )
  return rows[0] ?? { ids: [], scannedTo: null }
}

export interface SkippedLetterRow {
  readonly id: number
  readonly endpoint: string | null
  readonly queue: string | null
  readonly state: 'open' | 'redriven' | 'resolved' | 'discarded' | 'erased'
  readonly why: 'resolved' | 'discarded' | 'erased' | 'redriven' | 'failed_again' | 'destination_deleted'
  readonly by: string | null
  readonly at: Date | null
  readonly note: string | null
}

/** In the order of the ids given. Indexes: operations_pkey, dead_letters_pkey. */
export async function readSkippedLetters(
  database: Database,
  operation: number,
  ids: readonly number[],
): Promise<SkippedLetterRow[]> {
  return database.query<SkippedLetterRow>(
    {
      name: 'read_skipped_letters',
      text: `
        select letter.id, endpoint.name as endpoint, queue.name as queue, letter.state, letter.settled_by as by, letter.settled_at as at, letter.note,
               case
                 when pg_visible_in_snapshot(letter.changed_xid, op.as_of) then 'destination_deleted'
                 when letter.state = 'open' then 'failed_again'
                 else letter.state
               end as why
        from unnest($2::bigint[]) with ordinality as asked (id, place)
        cross join lateral (select as_of from holdfast_internal.operations where id = $1 limit 1) as op
        cross join lateral (select * from holdfast_internal.dead_letters where id = asked.id limit 1) as letter
        left join lateral (select name from holdfast_internal.endpoints where id = letter.lane_id limit 1) as endpoint on true
        left join lateral (select name from holdfast_internal.queues where id = letter.lane_id limit 1) as queue on true
        order by asked.place`,
    },
    [operation, numberArray(ids)],
  )
}

/** Index: operations_pkey. */
export async function steerOperation(
  database: Database,
  id: string,
  wanted: 'running' | 'paused' | 'cancelled',
  actor: string,
): Promise<void> {
  await database.query({ name: 'steer_operation', text: 'select holdfast.steer_operation($1, $2, $3)' }, [
    id,
    wanted,
    actor,
  ])
}

/** Operations that are due, and when the next one is due; null if none is running. Index: operations_due. */
export async function readDueOperations(
  database: Database,
  maxRows: number,
): Promise<{ readonly ids: readonly number[]; readonly nextMs: number | null }> {
  const rows = await database.query<{ ids: readonly number[]; nextMs: number | null }>(
    {
      name: 'due_operations',
      text: 'select ids, next_ms as "nextMs" from holdfast_internal.due_operations($1)',
    },
    [maxRows],
  )
  return rows[0] ?? { ids: [], nextMs: null }
}

/** Returns whether more steps follow; null if another node is executing the operation, or it is no longer running. */
export async function stepOperation(
  database: Database,
  id: number,
  node: string,
  maxRows: number,
): Promise<boolean | null> {
  return database.inTransaction(async (client) => {
    await queryWithDeadline(
      client,
      `set local statement_timeout = ${stepTimeoutMs}; set local lock_timeout = ${stepLockTimeoutMs}`,
      stepTimeoutMs,
    )
    const { rows } = await queryWithDeadline<{ hasMore: boolean | null }>(
      client,
      {
        text: 'select holdfast_internal.step_operation($1, $2, $3) as "hasMore"',
        values: [id, node, maxRows],
      },
      stepTimeoutMs + answerGraceMs,
    )
    return rows[0]?.hasMore ?? null
  })
}

/** Index: operations_pkey. */
export async function failStep(database: Database, id: number, error: string): Promise<void> {
  await database.query({ name: 'fail_step', text: 'select holdfast_internal.fail_step($1, $2)' }, [id, error])
}

/** Returns false if the delivery is no longer pending, or was ready already. Index: deliveries_pkey. */
export async function actOnDelivery(
  database: Database,
  id: string,
  kind: 'retry' | 'cancel',
  note: string | null,
  actor: string,
): Promise<boolean> {
  const rows = await database.query<{ isDone: boolean }>(
    { name: 'act_on_delivery', text: 'select holdfast_internal.act_on_delivery($1, $2, $3, $4) as "isDone"' },
    [id, kind, note, actor],
  )
  return rows[0]?.isDone ?? false
}
