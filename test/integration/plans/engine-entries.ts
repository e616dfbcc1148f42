import { expect } from 'vitest'
import { enqueueRuns } from '../../../src/storage/enqueue-runs.ts'
import { reviveRuns, sweepRuns, sweepUnhandled, sweepZombies } from '../../../src/storage/keep-runs.ts'
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
import { settleFailures, settleSuccesses } from '../../../src/storage/settle.ts'
import { settleRunFailures, settleRunSuccesses } from '../../../src/storage/settle-runs.ts'
import {
  busyEvents,
  busyLane,
  claim,
  deliveryOf,
  failures,
  labNode,
  ownShards,
  runsOf,
  succeeded,
  successes,
} from './engine-rows.ts'
import type { PlanEntry } from './entry.ts'
import { keyedQueues } from './keyed-runs.ts'

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
      await settleSuccesses(database, labNode, successes(dataset, 500, 500), 1)
      return 500
    },
  },
  {
    of: 'settle#settleSuccesses',
    what: 'with requests and responses',
    bound: aBatch,
    run: async (database, dataset) => {
      const detail = { request: { body: '1' } }
      const records = successes(dataset, 500, 500).map((record) => ({ ...record, detail }))
      await settleSuccesses(database, labNode, records, 1)
      return 500
    },
  },
  ...(['retry', 'dead', 'drop', 'expire', 'cancel', 'skip'] as const).map(
    (action, nth): PlanEntry => ({
      of: 'settle#settleFailures',
      what: action,
      bound: aBatch,
      run: async (database, dataset) => {
        await ownShards(database)
        const records = failures(dataset, 1000 + 200 * nth, 200, action)
        const { refused } = await settleFailures(database, labNode, records, [], { number: 1, nowMs: 1 })
        expect(refused).toEqual([])
        return 200
      },
    }),
  ),
  ...['default', 'queue-00', ...keyedQueues].map(
    (queue): PlanEntry => ({
      of: 'claim-runs#claimRuns',
      what: `of ${queue}`,
      bound: aBatch,
      run: async (database) => (await claim(database, queue, 500)).runs.length,
    }),
  ),
  ...keyedQueues.map(
    (queue): PlanEntry => ({
      of: 'settle-runs#settleRunSuccesses',
      what: `of ${queue}`,
      bound: aBatch,
      run: async (database) => {
        const { worker, runs } = await claim(database, queue, 200)
        await settleRunSuccesses(database, worker, succeeded(runs), [], 1)
        return runs.length
      },
    }),
  ),
  {
    of: 'settle-runs#settleRunSuccesses',
    bound: aBatch,
    run: async (database, dataset) => {
      await settleRunSuccesses(database, labNode, await runsOf(database, dataset, 0, 200), [], 1)
      return 200
    },
  },
  ...(['retry', 'dead', 'expire', 'cancel', 'release'] as const).flatMap((action) =>
    ['queue-01', ...keyedQueues].map(
      (queue): PlanEntry => ({
        of: 'settle-runs#settleRunFailures',
        what: `${action} of ${queue}`,
        bound: aBatch,
        run: async (database) => {
          const { worker, runs } = await claim(database, queue, 50)
          const failed = { action, outcome: 2, delayMs: 1000, reason: 'permanent' }
          const records = succeeded(runs).map((record) => ({ ...record, ...failed }))
          await settleRunFailures(database, worker, records, [], 1)
          return runs.length
        },
      }),
    ),
  ),
  {
    of: 'keep-runs#sweepRuns',
    run: async (database) => (await sweepRuns(database, 500, 1), 500),
  },
  {
    of: 'keep-runs#sweepUnhandled',
    run: async (database) => (await sweepUnhandled(database, 600_000, 500, 1), 500),
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
    connection: 'application',
    run: async (database) =>
      (
        await sendMessages(
          database.queryable,
          'template',
          Array.from({ length: 50 }, () => '{}'),
          null,
        )
      ).length,
  },
  {
    of: 'enqueue-runs#enqueueRuns',
    connection: 'application',
    run: async (database) =>
      (
        await enqueueRuns(
          database.queryable,
          'job-00',
          Array.from({ length: 20 }, () => '{}'),
          Array.from({ length: 20 }, (_, n) => ({ priority: n % 4, orderingKey: `k${n}` })),
        )
      ).length,
  },
]
