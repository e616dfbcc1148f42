import { numberArray, numberSet } from './array-literal.ts'
import { type ClaimedRun, type ClaimRequest, type ClaimResult, claimRuns } from './claim-runs.ts'
import type { Database } from './database.ts'

/** Identifies a claim and one of its runs: after a crash of the server, ids of claims may be assigned again. */
export interface DispatchToken {
  readonly runId: number
  readonly claimId: number
}

/** The runs of one broker message. Every decision about the message is a compare-and-swap on the row of their claim. */
export interface Dispatch {
  readonly claimId: number
  /** At least one; all have this claim. */
  readonly runs: readonly ClaimedRun[]
  readonly target: string | null
  readonly ttlMs: number
}

/** Divides the claimed runs into messages. */
export type DivideRuns = (claimed: ClaimResult) => readonly (readonly ClaimedRun[])[]

/** Claims runs for a worker of broker mode, and gives each message its own token. Indexes: those of `claimRuns`; run_claims_pkey, runs_pkey. */
export async function dispatchRuns(
  database: Database,
  request: ClaimRequest,
  divide: DivideRuns,
): Promise<readonly Dispatch[]> {
  return database.asOne(async (transaction) => {
    const claimed = await claimRuns(transaction, request)
    const [first] = claimed.runs
    if (first === undefined) return []
    const parts = divide(claimed)
    const rows = await transaction.query<Omit<Dispatch, 'runs'> & { readonly part: number }>(
      {
        name: 'dispatch_claim',
        text: `
          select part, claim_id::float8 as "claimId", target, ttl_ms as "ttlMs"
          from holdfast_internal.dispatch_claim_v2($1, $2::int8multirange[])`,
      },
      [first.claimId, parts.map((runs) => numberSet(runs.map(({ id }) => id)))],
    )
    return rows.map(({ part, claimId, target, ttlMs }) => {
      const runs = (parts[part - 1] ?? []).map((run) => ({ ...run, claimId }))
      return { claimId, runs, target, ttlMs }
    })
  })
}

/**
 * Records that the broker confirmed these claims' messages. `movable`: those that wait for one worker
 * though others could execute them. Index: run_claims_pkey.
 */
export async function markPublished(
  database: Database,
  claimIds: readonly number[],
  movable: readonly number[],
): Promise<void> {
  await database.query(
    {
      name: 'mark_published',
      text: `
        update holdfast_internal.run_claims set published_at = clock_timestamp(), may_move = id = any ($2::bigint[])
        where id = any ($1::bigint[]) and worker = 0`,
    },
    [numberArray(claimIds), numberArray(movable)],
  )
}

/** Returns the claims of tokens that were no longer valid. Indexes: run_claims_pkey, runs_pkey. */
export async function startDispatched(
  database: Database,
  worker: number,
  tokens: readonly DispatchToken[],
): Promise<readonly number[]> {
  const rows = await database.query<{ lost: number[] }>(
    { name: 'start_dispatched', text: 'select holdfast_internal.start_dispatched_v2($1, $2, $3) as lost' },
    [
      worker,
      numberArray(tokens.map(({ runId }) => runId)),
      numberArray(tokens.map(({ claimId }) => claimId)),
    ],
  )
  return rows[0]?.lost ?? []
}

export interface DispatchEnd extends DispatchToken {
  readonly reason: string
  /** The `x-death` header of the message. */
  readonly history: unknown
}

export interface EndedDispatch {
  readonly runId: number
  readonly outcome: 'failed' | 'returned' | 'ended'
}

/** Ends dispatches that have not started, by token. Indexes: runs_pkey, run_claims_pkey, dead_letters_pkey. */
export async function endDispatches(
  database: Database,
  ends: readonly DispatchEnd[],
  by: number,
): Promise<readonly EndedDispatch[]> {
  return database.query<EndedDispatch>(
    {
      name: 'end_dispatches',
      text: `
        select run_id::float8 as "runId", outcome from holdfast_internal.end_dispatches($1, $2, $3, $4::jsonb[], $5)`,
    },
    [
      numberArray(ends.map(({ runId }) => runId)),
      numberArray(ends.map(({ claimId }) => claimId)),
      ends.map(({ reason }) => reason),
      ends.map(({ history }) => (history === null ? null : JSON.stringify(history))),
      by,
    ],
  )
}

/**
 * Returns runs to their queue that wait for one worker that is gone or takes too long, and that others could execute.
 * Returns the number of their messages. Index: run_claims_dispatched.
 */
export async function returnStranded(database: Database, maxRows: number, by: number): Promise<number> {
  const rows = await database.query<{ returned: number }>(
    { name: 'return_stranded', text: 'select holdfast_internal.return_stranded($1, $2) as returned' },
    [maxRows, by],
  )
  return rows[0]?.returned ?? 0
}

/**
 * Returns runs to their queue whose messages were lost with the shared broker queues of these job queues, or with the broker queue of the workers of
 * this name. Returns the number of messages. Indexes: run_claims_dispatched, queues_name_key, runs_pkey.
 */
export async function returnLostMessages(
  database: Database,
  queues: readonly string[],
  worker: string | null,
  maxRows: number,
  by: number,
): Promise<number> {
  const rows = await database.query<{ returned: number }>(
    {
      name: 'return_lost_messages',
      text: 'select holdfast_internal.return_lost_messages($1, $2, $3, $4) as returned',
    },
    [queues, worker, maxRows, by],
  )
  return rows[0]?.returned ?? 0
}

/** Recovery sweep for unconfirmed and overdue dispatches. Index: run_claims_dispatched. */
export async function sweepDispatches(
  database: Database,
  maxRows: number,
  by: number,
): Promise<{ readonly unpublished: number; readonly overdue: number }> {
  const rows = await database.query<{ unpublished: number; overdue: number }>(
    {
      name: 'sweep_dispatches',
      text: 'select unpublished, overdue from holdfast_internal.sweep_dispatches($1, $2)',
    },
    [maxRows, by],
  )
  return rows[0] ?? { unpublished: 0, overdue: 0 }
}

export interface Suspects {
  /** Runs that were in flight at a crash. */
  readonly suspects: number
  /** How many of these were in flight at two crashes or more. */
  readonly deadly: number
}

/**
 * For each worker, how many runs that were in flight at a crash it holds or was dispatched; among the first
 * 1,000 of each queue. Indexes: runs_suspect, run_claims_pkey.
 */
export async function countSuspects(
  database: Database,
  laneIds: readonly number[],
): Promise<ReadonlyMap<number, Suspects>> {
  const rows = await database.query<Suspects & { readonly worker: number }>(
    {
      name: 'count_suspects',
      text: `
        select coalesce(nullif(claim.worker, 0), claim.dispatched_for) as worker, count(*)::integer as suspects,
               (count(*) filter (where run.crashes > 1))::integer as deadly
        from unnest($1::integer[]) as lane (id)
        cross join lateral (
          select one.claim_id, one.crashes from holdfast_internal.runs as one
          where one.lane_id = lane.id and one.due_at is not null and one.crashes > 0
          order by one.priority desc, one.due_at limit 1000
        ) as run
        cross join lateral (select one.worker, one.dispatched_for from holdfast_internal.run_claims as one where one.id = run.claim_id limit 1) as claim
        group by 1`,
    },
    [numberArray(laneIds)],
  )
  return new Map(rows.map(({ worker, suspects, deadly }) => [worker, { suspects, deadly }]))
}

/** For each worker, how many dispatched runs have not started. Index: run_claims_dispatched. */
export async function countDispatched(database: Database): Promise<ReadonlyMap<number, number>> {
  const rows = await database.query<{ worker: number; runs: number }>(
    {
      name: 'count_dispatched',
      text: `
        select dispatched_for as worker, sum(holdfast_internal.claim_size(run_ids, bundled))::integer as runs
        from holdfast_internal.run_claims where worker = 0 group by 1`,
    },
    [],
  )
  return new Map(rows.map(({ worker, runs }) => [worker, runs]))
}
