import { divideRuns } from '../../../src/jobs/broker-node/divide-runs.ts'
import { readBrokerCounts } from '../../../src/storage/broker-reports.ts'
import type { Database } from '../../../src/storage/database.ts'
import {
  countDispatched,
  countSuspects,
  dispatchRuns,
  endDispatches,
  markPublished,
  returnLostMessages,
  returnStranded,
  startDispatched,
  sweepDispatches,
} from '../../../src/storage/dispatches.ts'
import { labWorker } from './engine-rows.ts'
import type { PlanEntry } from './entry.ts'

const aBatch = { rows: 4000, why: 'a batch of 200 runs, their claims, and what is dispatched at all' }

async function dispatch(database: Database, wanted = 200) {
  const { incarnation, laneIds } = await labWorker(database, 'default')
  const dispatches = await dispatchRuns(
    database,
    {
      worker: incarnation,
      laneId: laneIds[0] ?? 0,
      wanted,
      suspectRoom: 10,
      mayTakeDeadly: false,
      jobIds: null,
      maxBytes: 16 * 1024 * 1024,
      maxChain: 1,
      patienceMs: 0,
      request: 1,
    },
    // Half of them alone, as those with a key are.
    ({ runs, due }) =>
      divideRuns(
        { runs, due: new Set([...due, ...runs.slice(100).map(({ id }) => id)]) },
        { maxRuns: 16, maxBytes: 65_536 },
      ),
  )
  const tokens = dispatches.map(({ claimId, runs }) => ({ claimId, runId: runs[0]?.id ?? 0 }))
  return { worker: incarnation, tokens }
}

/** What a node asks in broker mode. */
export const brokerEntries: readonly PlanEntry[] = [
  {
    of: 'dispatches#dispatchRuns',
    bound: aBatch,
    run: async (database) => (await dispatch(database)).tokens.length,
  },
  {
    of: 'dispatches#markPublished',
    bound: aBatch,
    run: async (database) => {
      const { tokens } = await dispatch(database)
      await markPublished(
        database,
        tokens.map(({ claimId }) => claimId),
        tokens.slice(0, 100).map(({ claimId }) => claimId),
      )
      return tokens.length
    },
  },
  {
    of: 'dispatches#startDispatched',
    bound: aBatch,
    run: async (database) => {
      const { worker, tokens } = await dispatch(database)
      await startDispatched(database, worker, tokens)
      return tokens.length
    },
  },
  ...['expired', 'rejected', 'unpublished'].map(
    (reason): PlanEntry => ({
      of: 'dispatches#endDispatches',
      what: reason,
      bound: aBatch,
      run: async (database) => {
        const { tokens } = await dispatch(database)
        const ends = tokens.map((token) => ({ ...token, reason, history: [{ reason }] }))
        return (await endDispatches(database, ends, 0)).length
      },
    }),
  ),
  {
    of: 'dispatches#sweepDispatches',
    bound: aBatch,
    run: async (database) => {
      await sweepDispatches(database, 200, 0)
      return 200
    },
  },
  {
    of: 'dispatches#returnStranded',
    bound: aBatch,
    run: async (database) => {
      const { tokens } = await dispatch(database)
      const claimIds = tokens.map(({ claimId }) => claimId)
      await markPublished(database, claimIds, claimIds)
      await returnStranded(database, 200, 0)
      return 200
    },
  },
  {
    of: 'dispatches#returnLostMessages',
    bound: aBatch,
    run: async (database) => {
      const { tokens } = await dispatch(database)
      await markPublished(
        database,
        tokens.map(({ claimId }) => claimId),
        [],
      )
      return returnLostMessages(database, ['default'], 'press', 200, 0)
    },
  },
  {
    of: 'dispatches#countSuspects',
    bound: {
      rows: 2200,
      why: 'runs that were in flight at a crash, 1,000 of a queue at most, and their claims',
    },
    run: async (database) => {
      const { laneIds } = await labWorker(database, 'default')
      return (await countSuspects(database, laneIds)).size
    },
  },
  {
    of: 'broker-reports#readBrokerCounts',
    bound: { rows: 25_000, why: 'what is counted to 10,000, and a row for each node, worker and queue' },
    run: async (database) => (await readBrokerCounts(database)).queues + 1,
  },
  {
    of: 'dispatches#countDispatched',
    bound: aBatch,
    run: async (database) => (await countDispatched(database)).size,
  },
]
