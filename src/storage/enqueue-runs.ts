import { parseNumberSet } from './array-literal.ts'
import type { ClaimedRun } from './claim-runs.ts'
import type { Sender } from './send-messages.ts'

/**
 * Stores runs of one job, all or none, and returns their ids in order: also in the caller's own transaction. Bodies travel as lines of
 * one text; see sendMessages.
 */
export async function enqueueRuns(
  sender: Sender,
  job: string,
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
): Promise<number[]> {
  if (bodies.length === 0) return []
  const isLines = !bodies.some((body) => body.includes('\n'))
  const result = await sender.query({
    text: isLines
      ? 'select holdfast_internal.accept_run_lines($1, $2, $3::jsonb[])'
      : `select string_agg(id::text, ',') from holdfast_internal.accept_runs($1, $2::text[], $3::jsonb[]) as id`,
    values: [
      job,
      isLines ? bodies.join('\n') : bodies,
      options === null ? null : options.map((each) => (each === null ? null : JSON.stringify(each))),
    ],
    rowMode: 'array',
  })
  const [row] = result.rows as [string][]
  if (row === undefined) throw new Error('accept_run_lines returned no row')
  return row[0].startsWith('{') ? parseNumberSet(row[0]) : row[0].split(',').map(Number)
}

export interface RunForWorker {
  readonly job: string
  readonly body: string
  /** The worker that keeps a slot for it, and its number for this claim. */
  readonly worker: number
  readonly request: number
}

/**
 * Stores one plain run as claimed by a worker of this process; `claimed` is null when it had to be stored like any other. Indexes: workers_pkey,
 * jobs_name_key, queues_pkey.
 */
export async function enqueueClaimedRun(
  sender: Sender,
  { job, body, worker, request }: RunForWorker,
): Promise<{ readonly id: number; readonly claimed: ClaimedRun | null }> {
  const result = await sender.query({
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
  }
  return { id, claimed }
}
