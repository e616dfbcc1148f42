import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

/** A claimed run as its handler needs it. */
export interface ClaimedRun {
  readonly claimId: number
  readonly id: number
  readonly messageId: number
  readonly laneId: number
  readonly jobId: number
  /** Number of earlier attempts. */
  readonly attempt: number
  readonly crashes: number
  readonly expiresAtMs: number | null
  /** Null if the body is gone: then the run can't be executed. */
  readonly body: string | null
  readonly correlationId: string | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** Runs with the same key that are claimed together are executed one after the other. */
  readonly orderingKey: string | null
}

/** Returned by a claim that got fewer runs than requested. */
export interface ClaimHint {
  /** How long until the next run falls due or a limit allows more; null: no run waits for a time. */
  readonly waitMs: number | null
  /** Every transaction below this id had ended; every one from `next` on hadn't begun. */
  readonly xmin: number
  readonly next: number
}

export interface ClaimResult {
  readonly runs: readonly ClaimedRun[]
  /** Runs that changed since they were enqueued, or have a key, a target or a due time. The others differ only in their bodies. */
  readonly due: ReadonlySet<number>
  /** Null if as many runs were returned as requested, or the worker may not claim any more. */
  readonly hint: ClaimHint | null
}

type ClaimRow = readonly [
  claimId: number,
  id: number | null,
  messageId: number,
  jobId: number,
  attempt: number,
  crashes: number,
  expiresAtMs: number | null,
  body: string | null,
  correlationId: string | null,
  headers: Record<string, string> | null,
  metadata: Record<string, unknown> | null,
  /** The following fields are in the last row only. */
  freshIds: string | null,
  freshJobs: string | null,
  freshExpiries: string | null,
  bodyIds: string | null,
  bodies: string | null,
  bodyExtras: Readonly<Record<string, Extras>> | null,
  waitMs: number | null,
  xmin: number | null,
  next: number | null,
  runOrder: string | null,
  orderingKey: string | null,
  /** A JSON array. */
  freshKeys: string | null,
]

type Extras = readonly [
  correlationId: string | null,
  headers: Record<string, string> | null,
  metadata: Record<string, unknown> | null,
]

/** The separator that holdfast_internal.read_bodies puts between two bodies. */
const bodySeparator = '\x1e'

export interface ClaimRequest {
  readonly worker: number
  readonly laneId: number
  readonly wanted: number
  /** How many runs that were in flight at a crash the worker may claim. */
  readonly suspectRoom: number
  readonly mayTakeDeadly: boolean
  /** The jobs that this worker has handlers for; null: all. */
  readonly jobIds: readonly number[] | null
  /** Limit of the bodies' total size. A single run may exceed it. */
  readonly maxBytes: number
  /** Maximum number of runs of one ordering key, which are executed one after the other. */
  readonly maxChain: number
  /** For how long runs wait in front of an ordering key that this worker has in use, instead of being parked. */
  readonly patienceMs: number
  /** The worker's number for this call: if its response is lost, the claimed runs are returned by this number. */
  readonly request: number
}

/** Claims the next runs of a queue. Indexes: queue_cursors_pkey, runs_fresh, runs_due, runs_suspect, runs_targeted, runs_aside, messages_pkey. */
export async function claimRuns(database: Database, request: ClaimRequest): Promise<ClaimResult> {
  const { worker, laneId, wanted, suspectRoom, mayTakeDeadly, jobIds, maxBytes } = request
  const rows = await database.queryArrays<ClaimRow>(
    {
      name: 'claim_runs',
      text: 'select * from holdfast_internal.claim_runs_v3($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
    },
    [
      worker,
      laneId,
      wanted,
      suspectRoom,
      mayTakeDeadly,
      request.request,
      jobIds === null ? null : numberArray(jobIds),
      maxBytes,
      request.maxChain,
      request.patienceMs,
    ],
  )
  const runs: ClaimedRun[] = []
  const due = new Set<number>()
  let hint: ClaimHint | null = null
  for (const row of rows) {
    if (row[1] !== null) {
      runs.push(toDueRun(row, row[1], laneId))
      due.add(row[1])
      continue
    }
    for (const run of freshRuns(row, laneId)) {
      runs.push(run)
      if (run.orderingKey !== null) due.add(run.id)
    }
    if (row[20] !== null) sortAs(row[20], runs)
    if (row[18] !== null && row[19] !== null) hint = { waitMs: row[17], xmin: row[18], next: row[19] }
  }
  return { runs, due, hint }
}

/** Returns the runs of a claim whose response was lost; returns how many. Index: run_claims_worker. */
export async function returnClaim(database: Database, worker: number, request: number): Promise<number> {
  const rows = await database.query<{ returned: number }>(
    { name: 'return_claim', text: 'select holdfast_internal.return_claim($1, $2) as returned' },
    [worker, request],
  )
  return rows[0]?.returned ?? 0
}

/** Merges fresh and due runs by priority and age. */
function sortAs(order: string, runs: ClaimedRun[]): void {
  const places = new Map(order.split(',').map((id, place) => [Number(id), place]))
  runs.sort((first, second) => (places.get(first.id) ?? 0) - (places.get(second.id) ?? 0))
}

function toDueRun(row: ClaimRow, id: number, laneId: number): ClaimedRun {
  return {
    claimId: row[0],
    id,
    messageId: row[2],
    laneId,
    jobId: row[3],
    attempt: row[4],
    crashes: row[5],
    expiresAtMs: row[6],
    body: row[7],
    correlationId: row[8],
    headers: row[9],
    metadata: row[10],
    orderingKey: row[21],
  }
}

function freshRuns(row: ClaimRow, laneId: number): ClaimedRun[] {
  const [claimId, , , , , , , , , , , freshIds, freshJobs, freshExpiries, bodyIds, bodies, extras] = row
  if (freshIds === null || freshJobs === null) return []
  const keys = row[22] === null ? [] : (JSON.parse(row[22]) as (string | null)[])
  const jobs = freshJobs.split(',')
  const expiries = freshExpiries?.split(',')
  const bodyById = new Map<string, string>()
  if (bodyIds !== null && bodies !== null) {
    const texts = bodies.split(bodySeparator)
    bodyIds.split(',').forEach((id, index) => bodyById.set(id, texts[index] ?? 'null'))
  }
  return freshIds.split(',').map((text, index) => {
    const id = Number(text)
    const expiry = expiries?.[index] ?? ''
    const extra = extras?.[text]
    return {
      claimId,
      id,
      messageId: id,
      laneId,
      jobId: Number(jobs[index]),
      attempt: 0,
      crashes: 0,
      expiresAtMs: expiry === '' ? null : Number(expiry),
      body: bodyById.get(text) ?? null,
      correlationId: extra?.[0] ?? null,
      headers: extra?.[1] ?? null,
      metadata: extra?.[2] ?? null,
      orderingKey: keys[index] ?? null,
    }
  })
}
