import { acceptBodies } from './accept-bodies.ts'
import type { ClaimedRun } from './claim-runs.ts'
import type { Queryable } from './queryable.ts'

/** Stores runs of one job, all or none, and returns their ids in order. Can be part of the caller's own transaction. */
export async function enqueueRuns(
  queryable: Queryable,
  job: string,
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
): Promise<number[]> {
  return acceptBodies(
    queryable,
    { ofLines: 'accept_run_lines', ofArray: 'accept_runs' },
    job,
    bodies,
    options,
  )
}

export interface RunForWorker {
  readonly job: string
  readonly body: string
  /** The worker that reserves a slot for the run, and the worker's number for this claim. */
  readonly worker: number
  readonly request: number
}

/**
 * Stores one plain run as claimed by a worker of this process; `claimed` is null if it was stored as an
 * unclaimed run. Indexes: workers_pkey, jobs_name_key, queues_pkey.
 */
export async function enqueueClaimedRun(
  queryable: Queryable,
  { job, body, worker, request }: RunForWorker,
): Promise<{ readonly id: number; readonly claimed: ClaimedRun | null }> {
  const result = await queryable.query({
    text: 'select run, claim, job, lane from holdfast_internal.accept_claimed_run($1, $2, $3, $4)',
    values: [job, body, worker, request],
    rowMode: 'array',
  })
  const [row] = result.rows as [number, number | null, number, number][]
  if (row === undefined) throw new Error('accept_claimed_run returned no row')
  const [id, claimId, jobId, laneId] = row
  if (claimId === null) return { id, claimed: null }
  const claimed = {
    claimId,
    id,
    messageId: id,
    laneId,
    jobId,
    attempt: 0,
    crashes: 0,
    expiresAtMs: null,
    body,
    correlationId: null,
    headers: null,
    metadata: null,
    orderingKey: null,
  }
  return { id, claimed }
}
