import type { Dataset } from '../../../bench/workload/operator-dataset.ts'
import { claimRuns } from '../../../src/storage/claim-runs.ts'
import type { Database } from '../../../src/storage/database.ts'
import { enqueueRuns } from '../../../src/storage/enqueue-runs.ts'
import { reviveRuns, sweepRuns, sweepZombies } from '../../../src/storage/keep-runs.ts'
import { readArrivals, readRange, readTopId } from '../../../src/storage/read-arrivals.ts'
import {
  readByIds,
  readDue,
  readKeyHeads,
  readNextDue,
  readStreams,
} from '../../../src/storage/read-deliveries.ts'
import { readMessages } from '../../../src/storage/read-messages.ts'
import { sendMessages } from '../../../src/storage/send-messages.ts'
import { type FailureRecord, settleFailures, settleSuccesses } from '../../../src/storage/settle.ts'
import { type RunRecord, settleRunFailures, settleRunSuccesses } from '../../../src/storage/settle-runs.ts'
import { registerWorker } from '../../../src/storage/workers.ts'
import type { PlanEntry } from './entry.ts'

/** Half of everything that is owed waits here. */
const busyLane = ({ firstLane }: Dataset) => firstLane + 2
/** Numbers of events whose deliveries the busy lane owes, from the middle on: each entry takes others, because some are settled. */
const busyEvents = ({ events }: Dataset, from: number, count: number) => {
  const first = 2 * Math.floor(events / 4)
  return Array.from({ length: count }, (_, n) => first + 2 * (from + n))
}
const deliveryOf = ({ eventId }: Dataset, event: number) => eventId(event) + 6

const successes = (dataset: Dataset, from: number, count: number) =>
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

const failures = (dataset: Dataset, from: number, count: number): FailureRecord[] =>
  successes(dataset, from, count).map(({ id, rowMessageId, laneId }) => ({
    id,
    message: rowMessageId,
    lane: laneId,
    epoch: 0,
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
    action: 'retry',
    delayMs: 1000,
    reason: null,
    isProbe: false,
    isCounted: true,
    isTried: true,
    blocksKey: false,
    orderingKey: null,
  }))

async function runsOf(database: Database, { events, eventId }: Dataset, from: number, count: number) {
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

async function claimed(database: Database, queue: string): Promise<number> {
  const { incarnation, laneIds } = await registerWorker(database, {
    name: 'lab',
    version: '0',
    host: 'here',
    pid: 1,
    queues: [queue],
    tags: [],
    concurrency: 500,
    leaseMs: 60_000,
  })
  const { runs } = await claimRuns(database, {
    worker: incarnation,
    laneId: laneIds[0] ?? 0,
    wanted: 500,
    suspectRoom: 10,
    mayTakeDeadly: false,
    request: 1,
  })
  return runs.length
}

const aBatch = { rows: 4000, why: 'a batch of results, and what each of them is looked up in' }

/** What nodes and workers repeat, on their own connections; what publishers call, on anybody's. */
export const engineEntries: readonly PlanEntry[] = [
  { of: 'read-arrivals#readTopId', run: async (database) => (await readTopId(database), 1) },
  {
    of: 'read-arrivals#readArrivals',
    run: async (database, dataset) => {
      const after = deliveryOf(dataset, Math.floor(dataset.events / 2))
      return (await readArrivals(database, after, null, 1000)).groups.reduce(
        (sum, { total }) => sum + total,
        0,
      )
    },
  },
  {
    of: 'read-arrivals#readRange',
    run: async (database, dataset) => {
      const after = deliveryOf(dataset, Math.floor(dataset.events / 2))
      return (await readRange(database, { after, upTo: Number.MAX_SAFE_INTEGER }, null, 500)).length
    },
  },
  {
    of: 'read-deliveries#readStreams',
    run: async (database, dataset) => {
      const request = { laneId: busyLane(dataset), priority: 0, after: 0, maxRows: 500 }
      const quiet = Array.from({ length: 20 }, (_, n) => ({
        ...request,
        laneId: request.laneId + 3 + n,
        maxRows: 20,
      }))
      const rows = await readStreams(database, [request, ...quiet], Number.MAX_SAFE_INTEGER)
      return rows.reduce((sum, each) => sum + each.length, 0)
    },
  },
  {
    of: 'read-deliveries#readDue',
    run: async (database, dataset) =>
      (await readDue(database, [{ laneId: busyLane(dataset), maxRows: 500, fromMs: 0 }])).rows[0]?.length ??
      0,
  },
  {
    of: 'read-deliveries#readNextDue',
    run: async (database, dataset) =>
      (
        await readNextDue(
          database,
          Array.from({ length: 20 }, (_, n) => dataset.firstLane + n),
        )
      ).length,
  },
  {
    of: 'read-deliveries#readByIds',
    run: async (database, dataset) =>
      (
        await readByIds(
          database,
          busyEvents(dataset, 0, 500).map((event) => deliveryOf(dataset, event)),
        )
      ).length,
  },
  {
    of: 'read-deliveries#readKeyHeads',
    run: async (database, dataset) =>
      (await readKeyHeads(database, [{ laneId: busyLane(dataset), key: 'nobody' }])).length,
  },
  {
    of: 'read-messages#readMessages',
    run: async (database, dataset) =>
      (
        await readMessages(
          database,
          busyEvents(dataset, 0, 500).map((event) => dataset.eventId(event)),
          true,
        )
      ).size,
  },
  {
    of: 'settle#settleSuccesses',
    bound: aBatch,
    run: async (database, dataset) => {
      await settleSuccesses(database, 999_999, successes(dataset, 500, 500), 1)
      return 500
    },
  },
  {
    of: 'settle#settleFailures',
    bound: aBatch,
    run: async (database, dataset) => {
      await settleFailures(database, 999_999, failures(dataset, 1000, 200), [], { number: 1, nowMs: 1 })
      return 200
    },
  },
  { of: 'claim-runs#claimRuns', bound: aBatch, run: (database) => claimed(database, 'default') },
  {
    of: 'settle-runs#settleRunSuccesses',
    bound: aBatch,
    run: async (database, dataset) => {
      await settleRunSuccesses(database, 999_999, await runsOf(database, dataset, 0, 200), [], 1)
      return 200
    },
  },
  {
    of: 'settle-runs#settleRunFailures',
    bound: aBatch,
    run: async (database, dataset) => {
      const records = await runsOf(database, dataset, 200, 100)
      await settleRunFailures(
        database,
        999_999,
        records.map((record) => ({ ...record, action: 'retry', outcome: 2, delayMs: 1000 })),
        [],
        1,
      )
      return 100
    },
  },
  {
    of: 'keep-runs#sweepRuns',
    run: async (database) => (await sweepRuns(database, 500, 1), 500),
  },
  {
    of: 'keep-runs#sweepZombies',
    run: async (database) => (await sweepZombies(database, 600_000, 500, 1), 500),
  },
  {
    of: 'keep-runs#reviveRuns',
    bound: aBatch,
    run: async (database) => (await reviveRuns(database, 500), 500),
  },
  {
    of: 'send-messages#sendMessages',
    connection: 'api',
    run: async (database) =>
      (
        await sendMessages(
          database.sender,
          'template',
          Array.from({ length: 50 }, () => '{}'),
          null,
        )
      ).length,
  },
  {
    of: 'enqueue-runs#enqueueRuns',
    connection: 'api',
    run: async (database) =>
      (
        await enqueueRuns(
          database.sender,
          'job-00',
          Array.from({ length: 20 }, () => '{}'),
          Array.from({ length: 20 }, (_, n) => ({ priority: n % 4, orderingKey: `k${n}` })),
        )
      ).length,
  },
]
