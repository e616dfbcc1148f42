import { numberArray, numberSet } from './array-literal.ts'
import { type ClaimedRun, type ClaimRequest, type ClaimResult, claimRuns } from './claim-runs.ts'
import type { Database } from './database.ts'

/** A claim, and a run of it: ids of claims may be given out again after the server has crashed. */
export interface DispatchToken {
  readonly runId: number
  readonly claimId: number
}

/** The runs of one message. The row of their claim is what every decision about the message compares and swaps. */
export interface Dispatch {
  readonly claimId: number
  /** At least one; each has this claim. */
  readonly runs: readonly ClaimedRun[]
  readonly target: string | null
  readonly ttlMs: number
}

/** Divides what was claimed into the runs of one message each. */
export type DivideRuns = (claimed: ClaimResult) => readonly (readonly ClaimedRun[])[]

/** Claims for a worker of broker mode, and gives each message a token of its own. Indexes: those of `claimRuns`; run_claims_pkey, runs_pkey. */
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

/** The broker has confirmed these. `movable`: those of them that wait for one worker, though others could execute them. Index: run_claims_pkey. */
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

/** Returns the runs of the tokens that were no longer valid. Indexes: run_claims_pkey, runs_pkey. */
export async function startDispatched(
  database: Database,
  worker: number,
  tokens: readonly DispatchToken[],
): Promise<readonly number[]> {
  const rows = await database.query<{ lost: number[] }>(
    { name: 'start_dispatched', text: 'select holdfast_internal.start_dispatched($1, $2, $3) as lost' },
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
  /** The x-death of its message. */
  readonly history: unknown
}

export interface EndedDispatch {
  readonly runId: number
  readonly outcome: 'failed' | 'returned' | 'ended'
}

/** Ends what has not started, by its token. Indexes: runs_pkey, run_claims_pkey, dead_letters_pkey. */
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

/** Runs that wait for one worker, which is gone or takes too long, and that others could execute. Returns how many messages they were. Index: run_claims_dispatched. */
export async function returnStranded(database: Database, maxRows: number, by: number): Promise<number> {
  const rows = await database.query<{ returned: number }>(
    { name: 'return_stranded', text: 'select holdfast_internal.return_stranded($1, $2) as returned' },
    [maxRows, by],
  )
  return rows[0]?.returned ?? 0
}

/**
 * Runs whose messages were lost with the shared queues of these job queues, or with the queue of the workers of this name. Returns how many messages they were. Indexes:
 * run_claims_dispatched, queues_name_key, runs_pkey.
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

/** The backstop. Index: run_claims_dispatched. */
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
  /** Of these, how many were there twice. */
  readonly deadly: number
}

/** What each worker holds, or was dispatched, of runs that were in flight at a crash; of the first 1,000 of each queue. Indexes: runs_suspect, run_claims_pkey. */
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

/** How many runs were dispatched for each worker and have not started. Index: run_claims_dispatched. */
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
