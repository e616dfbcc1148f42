import type { Dataset } from '../../../bench/workload/operator-dataset.ts'
import { readLetterInflow, readRecentChanges, readTroubledEndpoints } from '../../../src/storage/attention.ts'
import { groupDeadLetters } from '../../../src/storage/dead-letters.ts'
import { readDeliverySituation } from '../../../src/storage/delivery-situation.ts'
import { readHealthPage } from '../../../src/storage/endpoint-health.ts'
import { countRecentTypes, matchStored, readEventBodies } from '../../../src/storage/event-samples.ts'
import { searchEvents } from '../../../src/storage/events.ts'
import { beforeEveryAttempt, findNextDeliveries } from '../../../src/storage/find.ts'
import { readGroupDetails, readLettersBreakdown } from '../../../src/storage/letter-groups.ts'
import { readNodeShares } from '../../../src/storage/nodes.ts'
import {
  createOperation,
  findSkippedLetters,
  listOperations,
  previewOperation,
  readOperationOutcome,
} from '../../../src/storage/operations.ts'
import { beforeEverything, maxScannedPerPage } from '../../../src/storage/page.ts'
import { readPartitions } from '../../../src/storage/partitions.ts'
import { findNames } from '../../../src/storage/search.ts'
import { readDatabaseBytes, readServer, readTables } from '../../../src/storage/server.ts'
import { readTroubledLanes } from '../../../src/storage/troubled-lanes.ts'
import type { PlanEntry } from './entry.ts'

const pageRows = 51
const definitions = (rows: number) => ({ rows, why: 'a row for each endpoint, not for each message' })

const newestEvents = (dataset: Dataset) =>
  Array.from({ length: 100 }, (_, place) => dataset.eventId(dataset.events - 1 - place))

/** What the overview and the pages of the dashboard ask, beside what every operator asks. */
export const pageEntries: readonly PlanEntry[] = [
  {
    of: 'nodes#readNodeShares',
    run: async (database) => (await readNodeShares(database)).length,
    bound: definitions(12_000),
  },
  {
    of: 'server#readTables',
    run: async (database) => (await readTables(database, '', pageRows)).length,
    bound: { rows: 3000, why: "PostgreSQL's own list of tables and indexes, not their rows" },
  },
  {
    of: 'server#readServer',
    run: async (database) => Number((await readServer(database)).connections > 0),
    bound: { rows: 1000, why: 'a row for each database of the server' },
  },
  {
    of: 'server#readDatabaseBytes',
    run: async (database) => Number((await readDatabaseBytes(database)) > 0),
  },
  {
    of: 'partitions#readPartitions',
    run: async (database) => (await readPartitions(database)).length,
    bound: { rows: 5000, why: 'each partition for each of 25 months, and a thousand stray rows at most' },
  },
  {
    of: 'troubled-lanes#readTroubledLanes',
    run: async (database) => (await readTroubledLanes(database)).length,
    bound: definitions(12_000),
  },
  {
    of: 'search#findNames',
    run: async (database) => (await findNames(database, '0042', 8)).length,
    bound: { rows: 60_000, why: 'names of what is defined are looked through, not messages' },
  },
  ...(
    [
      ['all', {}],
      ['by a part of the name', { nameHas: '0042' }],
      ['troubled', { isTroubled: true }],
    ] as const
  ).map(
    ([what, filter]): PlanEntry => ({
      of: 'endpoint-health#readHealthPage',
      what,
      run: async (database) => {
        const all = { afterName: '', nameHas: null, tag: null, state: null, isTroubled: false }
        const rows = await readHealthPage(database, { ...all, ...filter }, pageRows)
        return rows.reduce((sum, { steps }) => sum + 1 + steps.length, 0)
      },
      bound: definitions(12_000),
    }),
  ),
  ...(
    [
      ['of all endpoints', {}],
      ['of an endpoint', { endpoint: 'endpoint-00042' }],
      ['of a message', { correlationId: 'correlation-5' }],
      ['with an error that nobody had', { errorCode: 'nothing_like_this' }],
      ['of a rare type', { eventType: 'rare.event' }],
    ] as const
  ).map(
    ([what, filter]): PlanEntry => ({
      of: 'find#findNextDeliveries',
      what,
      run: async (database) => {
        const { found } = await findNextDeliveries(database, filter, beforeEveryAttempt, pageRows)
        return Math.max(found.length, pageRows)
      },
      bound: { rows: 4 * maxScannedPerPage, why: 'a look ends after a bounded number of rows' },
    }),
  ),
  ...(
    [
      ['in all', {}],
      ['of one correlation', { correlationId: 'nobody' }],
      ['of one ordering key', { orderingKey: 'nobody' }],
    ] as const
  ).map(
    ([what, filter]): PlanEntry => ({
      of: 'events#searchEvents',
      what,
      run: async (database) => {
        const search = { filter, path: ['nobody'], equals: 'has this', text: null }
        return (await searchEvents(database, search, Number.MAX_SAFE_INTEGER, 50)).scanned
      },
      bound: { rows: 40_100, why: 'a step looks at 20,000 events at most, here and among those kept' },
    }),
  ),
  {
    of: 'delivery-situation#readDeliverySituation',
    run: async (database, dataset) =>
      Number(
        (await readDeliverySituation(database, dataset.eventId(Math.floor(dataset.events / 2)) + 7)) !==
          undefined,
      ),
    bound: {
      rows: 2100,
      why: 'what is ahead and behind with one ordering key is counted to a thousand each',
    },
  },
  {
    of: 'event-samples#readEventBodies',
    run: async (database, dataset) => (await readEventBodies(database, newestEvents(dataset))).length,
  },
  {
    of: 'event-samples#matchStored',
    run: async (database, dataset) => {
      await matchStored(database, '$.amount > 100', newestEvents(dataset), 5000)
      return newestEvents(dataset).length
    },
  },
  {
    of: 'event-samples#countRecentTypes',
    run: async (database) => (await countRecentTypes(database, 10_000)).types.length,
    bound: { rows: 10_000, why: 'the newest ten thousand messages, however many there are' },
  },
  {
    of: 'letter-groups#readGroupDetails',
    run: async (database) => {
      const groups = await groupDeadLetters(database, { state: 'open' }, 50)
      return (await readGroupDetails(database, groups, 'open')).length
    },
    bound: {
      rows: 125_000,
      why: 'fifty groups, a hundred letters at most of each of 24 hours, and entries of the audit log by subject',
    },
  },
  {
    of: 'letter-groups#readLettersBreakdown',
    run: async (database) => {
      const request = { kind: 'redrive', filter: {}, options: { all: true }, asOf: null } as const
      const { asOf } = await previewOperation(database, request)
      return (await readLettersBreakdown(database, {}, asOf)).lookedAt
    },
    bound: { rows: 25_000, why: 'the first ten thousand letters, in pieces of 2,500, found and read' },
  },
  {
    of: 'operations#readOperationOutcome',
    run: async (database) => {
      await readOperationOutcome(database, 1, 10_000)
      return 0
    },
    bound: { rows: 10_001, why: 'the first ten thousand deliveries of one operation' },
  },
  ...[{}, { endpoint: 'endpoint-00042' }, { statusCode: 418 }].map(
    (filter): PlanEntry => ({
      of: 'operations#findSkippedLetters',
      what: JSON.stringify(filter),
      run: async (database) => {
        const request = {
          kind: 'resolve',
          filter,
          options: { all: true },
          asOf: null,
          ratePerSecond: null,
        } as const
        const id = await createOperation(database, request, 'ada')
        await findSkippedLetters(database, id, beforeEverything, pageRows)
        return 0
      },
      bound: {
        rows: 60_000,
        why: 'the preview of its creation, then five thousand letters, however many there are',
      },
    }),
  ),
  {
    of: 'operations#listOperations',
    what: 'of a kind',
    run: async (database) =>
      (await listOperations(database, beforeEverything, { state: null, kind: 'replay' }, pageRows)).length,
  },
  {
    of: 'attention#readTroubledEndpoints',
    run: async (database) => (await readTroubledEndpoints(database, 200)).length,
    bound: definitions(1000),
  },
  {
    of: 'attention#readLetterInflow',
    run: async (database) => (await readLetterInflow(database, 1000, 20)).length,
    bound: { rows: 2000, why: 'the newest thousand letters, however many there are' },
  },
  {
    of: 'attention#readRecentChanges',
    run: async (database) => (await readRecentChanges(database, 50)).length,
  },
]
