import type { Dataset } from '../../../bench/workload/operator-dataset.ts'
import { type ClaimedRun, claimRuns } from '../../../src/storage/claim-runs.ts'
import type { Database } from '../../../src/storage/database.ts'
import type { FailureRecord } from '../../../src/storage/settle.ts'
import type { RunRecord } from '../../../src/storage/settle-runs.ts'
import { registerWorker } from '../../../src/storage/workers.ts'

/** Half of everything that is owed waits here. */
export const busyLane = ({ firstLane }: Dataset) => firstLane + 2
/** Numbers of events whose deliveries the busy lane owes, from the middle on: each entry takes others, because some are settled. */
export const busyEvents = ({ events }: Dataset, from: number, count: number) => {
  const first = 2 * Math.floor(events / 4)
  return Array.from({ length: count }, (_, n) => first + 2 * (from + n))
}
export const deliveryOf = ({ eventId }: Dataset, event: number) => eventId(event) + 6

export const successes = (dataset: Dataset, from: number, count: number) =>
  busyEvents(dataset, from, count).map((event) => ({
    id: deliveryOf(dataset, event),
    rowMessageId: dataset.eventId(event),
    laneId: busyLane(dataset),
    routeId: null,
    attempt: 1,
    startedAtMs: 0,
    durationMs: 1,
    statusCode: 200,
    orderingKey: null,
  }))

export const failures = (
  dataset: Dataset,
  from: number,
  count: number,
  action: FailureRecord['action'] = 'retry',
): FailureRecord[] =>
  successes(dataset, from, count).map(({ id, rowMessageId, laneId }) => ({
    id,
    message: rowMessageId,
    lane: laneId,
    epoch: labEpoch,
    route: null,
    attempt: 1,
    expected: 0,
    outcome: 2,
    status: 500,
    startedAtMs: 0,
    durationMs: 1,
    errorCode: 'http_status',
    error: 'busy',
    detail: null,
    action,
    delayMs: 1000,
    reason: action === 'dead' ? 'permanent' : null,
    isProbe: false,
    isCounted: true,
    isTried: true,
    blocksKey: false,
    orderingKey: null,
  }))

export async function runsOf(database: Database, { events, eventId }: Dataset, from: number, count: number) {
  const first = 5 * Math.floor(events / 10)
  const ids = Array.from({ length: count }, (_, n) => eventId(first + 5 * (from + n)) + 3072)
  const rows = await database.query<{ id: number; lane: number }>(
    { name: 'lab_runs', text: 'select id, lane_id as lane from holdfast_internal.runs where id = any ($1)' },
    [ids],
  )
  return rows.map(
    ({ id, lane }): RunRecord => ({
      id,
      message: id,
      claim: 1,
      lane,
      attempt: 1,
      expected: 0,
      action: 'succeed',
      outcome: 1,
      startedAtMs: 0,
      durationMs: 1,
      errorCode: null,
      error: null,
      detail: null,
      delayMs: null,
      reason: null,
      isTried: true,
    }),
  )
}

/** The node in whose name entries settle, and the epoch under which it owns every shard. */
export const labNode = 999_999
const labEpoch = 1000

/** Decisions need the lease: without it nothing would be settled, and no plan be seen. */
export async function ownShards(database: Database): Promise<void> {
  await database.query(
    { name: 'lab_own', text: 'update holdfast_internal.shard_leases set incarnation = $1, epoch = $2' },
    [labNode, labEpoch],
  )
}

/** A worker that takes runs of one queue. */
export function labWorker(database: Database, queue: string) {
  return registerWorker(database, {
    name: 'lab',
    version: '0',
    host: 'here',
    pid: 1,
    queues: [queue],
    tags: [],
    concurrency: 500,
    leaseMs: 60_000,
  })
}

/** What a new worker gets of a queue at once. */
export async function claim(
  database: Database,
  queue: string,
  wanted: number,
): Promise<{ worker: number; runs: readonly ClaimedRun[] }> {
  const { incarnation, laneIds } = await labWorker(database, queue)
  const { runs } = await claimRuns(database, {
    worker: incarnation,
    laneId: laneIds[0] ?? 0,
    wanted,
    suspectRoom: 10,
    mayTakeDeadly: false,
    jobIds: null,
    maxBytes: 16 * 1024 * 1024,
    maxChain: 50,
    patienceMs: 0,
    request: 1,
  })
  return { worker: incarnation, runs }
}

/** As a worker reports what it has claimed. */
export const succeeded = (runs: readonly ClaimedRun[]): RunRecord[] =>
  runs.map(({ id, messageId, claimId, laneId }) => ({
    id,
    message: messageId,
    claim: claimId,
    lane: laneId,
    attempt: 1,
    expected: 0,
    action: 'succeed',
    outcome: 1,
    startedAtMs: 0,
    durationMs: 1,
    errorCode: null,
    error: null,
    detail: null,
    delayMs: null,
    reason: null,
    isTried: true,
  }))
