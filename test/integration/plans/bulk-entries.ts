import type { Dataset } from '../../../bench/workload/operator-dataset.ts'
import type { Database } from '../../../src/storage/database.ts'
import { cancelOrphans, deleteEndpoint } from '../../../src/storage/endpoints.ts'
import { createOperation, previewOperation, stepOperation } from '../../../src/storage/operations.ts'
import { deleteRoute } from '../../../src/storage/routes.ts'
import type { PlanEntry } from './entry.ts'
import { endpoint, type FilterOf } from './operator-entries.ts'

const dayMs = 86_400_000

/** For what takes away the ground that others stand on. */
async function undone(database: Database, work: (database: Database) => Promise<number>): Promise<number> {
  const undo = new Error('undo')
  let result = 0
  await database
    .asOne(async (inside) => {
      result = await work(inside)
      throw undo
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error
    })
  return result
}

/** Plans and steps of an operation, as a node takes them; it ends with the first step. */
function stepping(kind: 'redrive' | 'discard' | 'retry' | 'cancel' | 'replay', filter: FilterOf): PlanEntry {
  const rows = 500
  return {
    of: 'operations#stepOperation',
    // Nodes take the steps.
    connection: 'node',
    what: `${kind} ${rows} ${JSON.stringify(Object.keys(filter({ endpoints: 1 } as Dataset)))}`,
    run: async (database, dataset) => {
      const request = { kind, filter: filter(dataset), options: {}, asOf: null, ratePerSecond: null }
      const id = await withoutPlans(database, () => createOperation(database, request, 'lab'))
      await stepOperation(database, id, 'lab', rows)
      await database.query(
        {
          name: 'lab_end',
          text: `update holdfast_internal.operations set state = 'cancelled' where id = $1`,
        },
        [id],
      )
      return kind === 'replay' ? 4 * rows : rows
    },
  }
}

/** What a preview, or an operation that begins, reads to count what it would touch. */
function counting(
  what: string,
  kind: 'redrive' | 'retry' | 'cancel' | 'replay',
  filter: FilterOf,
  options: object = {},
): PlanEntry[] {
  const bound = {
    rows: 10_000,
    why: 'it counts to 10,000, in pieces of 5,000 rows; a replay looks at attempts and at letters',
  }
  const request = (dataset: Dataset) => ({ kind, filter: filter(dataset), options, asOf: null })
  return [
    {
      of: 'operations#previewOperation',
      what,
      bound,
      run: (database, dataset) => previewOperation(database, request(dataset)).then(() => 0),
    },
    {
      of: 'operations#createOperation',
      what,
      bound,
      run: (database, dataset) =>
        undone(database, (inside) =>
          createOperation(inside, { ...request(dataset), ratePerSecond: null }, 'lab').then(() => 0),
        ),
    },
  ]
}

const everTried = () => ({ from: new Date(Date.now() - 31 * dayMs), to: new Date(Date.now() + dayMs) })

/** Its creation has entries of its own: see counting. */
async function withoutPlans<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  await database.pool.query('set auto_explain.log_min_duration = -1')
  try {
    return await work()
  } finally {
    await database.pool.query('set auto_explain.log_min_duration = 0')
  }
}

/** Bulk actions and deletions: what a preview counts, and what a step takes. All of them change something. */
export const bulkEntries: readonly PlanEntry[] = [
  ...counting('letters of one', 'redrive', (dataset) => ({ endpoint: endpoint(dataset, 1) })),
  ...counting('letters of a kind', 'redrive', () => ({ eventType: 'rare.event', error: 'memory' })),
  ...counting('what one owes', 'cancel', (dataset) => ({ endpoint: endpoint(dataset, 2) })),
  ...counting('what hardly anybody owes', 'cancel', () => ({ eventType: 'rare.event' })),
  ...counting('what one owes later after an error', 'retry', (dataset) => ({
    endpoint: endpoint(dataset, 5),
    error: 'memory',
  })),
  ...counting('what one got', 'replay', (dataset) => ({ endpoint: endpoint(dataset, 0), ...everTried() })),
  ...counting('what hardly anybody got', 'replay', () => ({ eventType: 'rare.event', ...everTried() })),
  ...counting('what was cancelled', 'replay', () => ({ state: 'cancelled', ...everTried() })),
  ...counting('messages to one', 'replay', () => ({ eventType: 'rare.event', ...everTried() }), {
    targetEndpoint: 'endpoint-00000',
  }),
  {
    of: 'routes#deleteRoute',
    what: 'whose endpoint owes little',
    run: (database, dataset) =>
      undone(database, async (inside) => {
        await deleteRoute(inside, `route-${endpoint(dataset, dataset.endpoints - 1)}`, false, 'lab')
        return 1
      }),
  },
  {
    of: 'routes#deleteRoute',
    what: 'whose endpoint owes much',
    bound: { rows: 10_000, why: 'looks through ten thousand of what its endpoint owes' },
    run: (database, dataset) =>
      undone(database, async (inside) => {
        await deleteRoute(inside, `route-${endpoint(dataset, 2)}`, true, 'lab')
        return 0
      }),
  },
  stepping('cancel', () => ({ eventType: 'rare.event' })),
  stepping('redrive', () => ({ eventType: 'rare.event' })),
  stepping('replay', () => ({ eventType: 'rare.event', ...everTried() })),
  stepping('redrive', (dataset) => ({ endpoint: endpoint(dataset, 1) })),
  stepping('discard', (dataset) => ({ endpoint: endpoint(dataset, 1) })),
  stepping('retry', (dataset) => ({ endpoint: endpoint(dataset, 5) })),
  stepping('cancel', (dataset) => ({ endpoint: endpoint(dataset, 2) })),
  stepping('replay', (dataset) => ({
    endpoint: endpoint(dataset, 0),
    ...everTried(),
  })),
  {
    of: 'endpoints#deleteEndpoint',
    what: 'that owes much',
    run: (database, dataset) =>
      undone(database, async (inside) =>
        Number((await deleteEndpoint(inside, endpoint(dataset, 2), true, 'lab')).operation !== null),
      ),
    bound: { rows: 101, why: 'looks whether it owes more than a hundred' },
  },
  {
    of: 'endpoints#cancelOrphans',
    run: (database, dataset) =>
      undone(database, async (inside) => {
        await deleteEndpoint(inside, endpoint(dataset, 2), true, 'lab')
        await cancelOrphans(inside, [dataset.firstLane + 2])
        return 1
      }),
    bound: { rows: 101, why: 'looks whether it owes more than a hundred' },
  },
]
