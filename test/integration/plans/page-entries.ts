import { readLetterInflow, readRecentChanges, readTroubledEndpoints } from '../../../src/storage/attention.ts'
import { readDeliverySituation } from '../../../src/storage/delivery-situation.ts'
import { readHealthPage } from '../../../src/storage/endpoint-health.ts'
import { searchEvents } from '../../../src/storage/events.ts'
import { findNames } from '../../../src/storage/search.ts'
import type { PlanEntry } from './entry.ts'

const pageRows = 51
const definitions = (rows: number) => ({ rows, why: 'a row for each endpoint, not for each message' })

/** What the overview and the pages of the dashboard ask, beside what every operator asks. */
export const pageEntries: readonly PlanEntry[] = [
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
