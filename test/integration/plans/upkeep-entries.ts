import type { Dataset } from '../../../bench/workload/operator-dataset.ts'
import { returnClaim } from '../../../src/storage/claim-runs.ts'
import type { Database } from '../../../src/storage/database.ts'
import { enqueueClaimedRun } from '../../../src/storage/enqueue-runs.ts'
import { clearLeftovers, rewindFloors, takeRound } from '../../../src/storage/keep-runs.ts'
import {
  beat,
  buryNode,
  markStopping,
  registerNode,
  releaseShards,
  retireNode,
  setAsleep,
  takeShards,
} from '../../../src/storage/nodes.ts'
import { readNotices, tellFreedKeys } from '../../../src/storage/notices.ts'
import { publishEvents } from '../../../src/storage/publish-events.ts'
import { parkBehindKey } from '../../../src/storage/read-deliveries.ts'
import {
  abandonProbe,
  countLane,
  readChangedLanes,
  readLaneByName,
  readLanesById,
  reportLanes,
  setHoldReason,
  startProbe,
} from '../../../src/storage/read-lanes.ts'
import { readOverdue } from '../../../src/storage/read-overdue.ts'
import { readChangedShapes, readRouteShapes } from '../../../src/storage/routes.ts'
import { fireSchedules, readDueSchedules, readNextFireMs } from '../../../src/storage/schedules.ts'
import { checkBound, sendMessageBeside, sendMessages } from '../../../src/storage/send-messages.ts'
import { settleAll } from '../../../src/storage/settle.ts'
import { clearProgress, recordProgress } from '../../../src/storage/settle-runs.ts'
import { clearSuspicion, forgetSuspects, recordSuspects } from '../../../src/storage/suspects.ts'
import {
  beatWorker,
  buryWorker,
  clearBlocked,
  drainWorker,
  isKnownWorker,
  markWorkerStopping,
  readWorkerBeats,
  reportBlocked,
  retireWorker,
  setWorkerAsleep,
  setWorkerQueues,
} from '../../../src/storage/workers.ts'
import {
  busyEvents,
  busyLane,
  deliveryOf,
  failures,
  labNode,
  labWorker,
  ownShards,
  successes,
} from './engine-rows.ts'
import type { PlanEntry } from './entry.ts'

const now = '0' // A watermark: everything has been written since.
const ids = (dataset: Dataset, count: number) =>
  busyEvents(dataset, 2000, count).map((event) => deliveryOf(dataset, event))
const lanes = ({ firstLane }: Dataset, count: number) =>
  Array.from({ length: count }, (_, n) => firstLane + 10 + n)

const fleet = {
  rows: 2000,
  why: '256 shards, the nodes and workers of a fleet, and what people have defined',
}
const definitions = {
  rows: 12_000,
  why: 'each endpoint, route or breaker that was written since the watermark',
}

let settledAll = 2600

/** A node that has just registered; its name is new each time. */
const newNode = (database: Database) => registerNode(database, `lab-${process.hrtime.bigint()}`, '0')

const once = (
  of: string,
  work: (database: Database, dataset: Dataset) => Promise<unknown>,
  rest: Partial<PlanEntry> = {},
): PlanEntry => ({
  of,
  ...rest,
  run: async (database, dataset) => {
    await work(database, dataset)
    return 1
  },
})

/** What applications call on connections of their own, with the server's own settings, each under another key. */
const key = `gen_random_uuid()::text`
const bySql = [
  ['send-messages#sendMessages', `select holdfast.send('template', '{}')`],
  [
    'send-messages#sendMessages',
    `select holdfast.send('template', '{}', jsonb_build_object('idempotencyKey', ${key}))`,
  ],
  ['publish-events#publishEvents', `select holdfast.publish('nobody.wants', '{}')`],
  [
    'publish-events#publishEvents',
    `select holdfast.publish('nobody.wants', '{}', jsonb_build_object('idempotencyKey', ${key}))`,
  ],
  ['enqueue-runs#enqueueRuns', `select holdfast.enqueue('job-00', '{}')`],
  [
    'enqueue-runs#enqueueRuns',
    `select holdfast.enqueue('job-00', '{}', jsonb_build_object('uniqueKey', ${key}, 'orderingKey', ${key}))`,
  ],
] as const

/** What nodes and workers do now and then, or once for each of their lanes, shards or runs. */
export const upkeepEntries: readonly PlanEntry[] = [
  once('nodes#registerNode', newNode, { bound: fleet }),
  once(
    'nodes#beat',
    async (database) =>
      beat(database, await newNode(database), 10, { lanes: now, shapes: now, notices: now }),
    { bound: fleet },
  ),
  once(
    'nodes#takeShards',
    async (database) =>
      takeShards(database, await newNode(database), { incarnation: 0, seenBeat: 0 }, [1, 2]),
    { bound: fleet },
  ),
  once('nodes#releaseShards', async (database) => releaseShards(database, await newNode(database), [1, 2]), {
    bound: fleet,
  }),
  once('nodes#setAsleep', async (database) => setAsleep(database, await newNode(database), true), {
    bound: fleet,
  }),
  once('nodes#markStopping', async (database) => markStopping(database, await newNode(database)), {
    bound: fleet,
  }),
  once('nodes#buryNode', async (database) => buryNode(database, await newNode(database), 0), {
    bound: fleet,
  }),
  once('nodes#retireNode', async (database) => retireNode(database, await newNode(database)), {
    bound: fleet,
  }),
  {
    of: 'notices#readNotices',
    run: async (database) => (await readNotices(database, { watermark: now, id: 0 }, 100)).rows.length,
  },
  once('notices#tellFreedKeys', (database, dataset) =>
    tellFreedKeys(database, [{ laneId: busyLane(dataset), key: 'nobody' }]),
  ),
  {
    of: 'read-lanes#readLanesById',
    run: async (database, dataset) => (await readLanesById(database, lanes(dataset, 20))).length,
  },
  once('read-lanes#readLaneByName', (database) => readLaneByName(database, 'endpoint-00003')),
  {
    of: 'read-lanes#readChangedLanes',
    bound: definitions,
    run: async (database) => (await readChangedLanes(database, now)).rows.length,
  },
  {
    of: 'read-lanes#countLane',
    bound: { rows: 20_000, why: 'counts to the end, 20,000 of a line at a time' },
    run: async (database, dataset) =>
      (await countLane(database, busyLane(dataset), Number.MAX_SAFE_INTEGER)) && 1,
  },
  {
    of: 'read-lanes#countLane',
    what: 'of a lane that owes little',
    run: (database) => countLane(database, 2_000_000, Number.MAX_SAFE_INTEGER),
  },
  once('read-lanes#reportLanes', (database, dataset) =>
    reportLanes(
      database,
      lanes(dataset, 20).map((laneId) => ({ laneId, pending: 1, inFlight: 0 })),
    ),
  ),
  once('read-lanes#setHoldReason', (database, dataset) =>
    setHoldReason(database, dataset.firstLane + 10, 'lab'),
  ),
  once('read-lanes#startProbe', (database, dataset) =>
    startProbe(database, dataset.firstLane + 10, 'lab', 1000),
  ),
  once('read-lanes#abandonProbe', (database, dataset) =>
    abandonProbe(database, dataset.firstLane + 10, 'lab'),
  ),
  {
    of: 'read-overdue#readOverdue',
    run: async (database, dataset) => {
      const lane = {
        id: busyLane(dataset),
        giveUpBeforeMs: Date.now(),
        giveUpBeforeId: Number.MAX_SAFE_INTEGER,
      }
      return (await readOverdue(database, lane, 100)).length
    },
  },
  {
    of: 'routes#readRouteShapes',
    run: async (database) => (await readRouteShapes(database, [1, 2, 3])).length,
  },
  {
    of: 'routes#readChangedShapes',
    bound: definitions,
    run: async (database) => (await readChangedShapes(database, now, ['type.1'])).routeIds.length,
  },
  once('read-deliveries#parkBehindKey', (database, dataset) => parkBehindKey(database, ids(dataset, 200)), {
    bound: { rows: 800, why: 'the deliveries that were named' },
  }),
  {
    of: 'settle#settleAll',
    bound: { rows: 4000, why: 'a batch of results, and what each of them is looked up in' },
    run: async (database, dataset) => {
      // Others each time: a result that was recorded before is an error to it, which its caller knows how to take.
      const from = settledAll
      settledAll += 300
      await ownShards(database)
      await settleAll(
        database,
        labNode,
        successes(dataset, from, 200),
        failures(dataset, from + 200, 100),
        [],
        {
          number: 1,
          nowMs: 1,
        },
      )
      return 300
    },
  },
  once('suspects#recordSuspects', (database, dataset) =>
    recordSuspects(
      database,
      labNode,
      ids(dataset, 50).map((id) => ({ id, laneId: busyLane(dataset) })),
    ),
  ),
  once('suspects#clearSuspicion', (database) => clearSuspicion(database, labNode, [1, 2]), { bound: fleet }),
  once('suspects#forgetSuspects', (database, dataset) => forgetSuspects(database, ids(dataset, 50))),
  once('send-messages#checkBound', (database) => checkBound(database.queryable, 1), {
    connection: 'application',
  }),
  once(
    'send-messages#sendMessageBeside',
    (database) => sendMessageBeside(database.queryable, 'template', '{}', 1),
    {
      connection: 'application',
    },
  ),
  {
    of: 'send-messages#sendMessages',
    what: 'with options',
    connection: 'application',
    run: async (database) => {
      const options = Array.from({ length: 20 }, (_, n) => ({
        idempotencyKey: `lab-${process.hrtime.bigint()}`,
        orderingKey: `key-${n}`,
        deliverAt: new Date(Date.now() + 60_000).toISOString(),
      }))
      const bodies = options.map(() => '{}')
      return (await sendMessages(database.queryable, 'template', bodies, options)).length
    },
  },
  ...[
    { what: 'that nobody wants', types: ['nobody.wants', 'this.either'] },
    { what: 'that some endpoints want', types: ['type.1'] },
    { what: 'of several types', types: Array.from({ length: 10 }, (_, n) => `type.${n}`) },
  ].map(
    ({ what, types }): PlanEntry => ({
      of: 'publish-events#publishEvents',
      what,
      connection: 'application',
      run: async (database) => {
        const bodies = types.map(() => '{}')
        const accepted = await publishEvents(database.queryable, types, bodies, null, true)
        return accepted.reduce((sum, { deliveries }) => sum + deliveries, types.length)
      },
    }),
  ),
  ...bySql.map(
    ([of, text]): PlanEntry => ({
      of,
      what: `by SQL: ${text}`,
      connection: 'application',
      run: async (database) => (await database.query({ name: `lab_${text.length}_${of}`, text }, [])).length,
    }),
  ),
  once('keep-runs#takeRound', (database) => takeRound(database, 'lab', 1)),
  once('keep-runs#rewindFloors', rewindFloors, { bound: fleet }),
  once('keep-runs#clearLeftovers', clearLeftovers),
  once('schedules#readDueSchedules', (database) => readDueSchedules(database, 100)),
  once('schedules#readNextFireMs', readNextFireMs),
  once('schedules#fireSchedules', (database) =>
    fireSchedules(database, [{ id: 1, expected: new Date(0), next: null, times: [] }]),
  ),
  once('settle-runs#recordProgress', async (database) =>
    recordProgress(database, (await labWorker(database, 'default')).incarnation, [
      { id: 1, attempt: 1, progress: { done: 1 }, logs: [] },
    ]),
  ),
  once('settle-runs#clearProgress', (database) => clearProgress(database, [1, 2, 3])),
  once('claim-runs#returnClaim', async (database) =>
    returnClaim(database, (await labWorker(database, 'default')).incarnation, 1),
  ),
  once(
    'enqueue-runs#enqueueClaimedRun',
    async (database) =>
      enqueueClaimedRun(database.queryable, {
        job: 'job-00',
        body: '{}',
        worker: (await labWorker(database, 'queue-00')).incarnation,
        request: 1,
      }),
    { connection: 'application', bound: fleet },
  ),
  once('workers#registerWorker', (database) => labWorker(database, 'default'), { bound: fleet }),
  once(
    'workers#beatWorker',
    async (database) => beatWorker(database, (await labWorker(database, 'default')).incarnation, 1),
    { bound: fleet },
  ),
  once('workers#isKnownWorker', async (database) => Number(await isKnownWorker(database, 1)), {
    bound: fleet,
  }),
  once('workers#readWorkerBeats', readWorkerBeats, { bound: fleet }),
  once(
    'workers#setWorkerAsleep',
    async (database) => setWorkerAsleep(database, (await labWorker(database, 'default')).incarnation, true),
    { bound: fleet },
  ),
  once(
    'workers#reportBlocked',
    async (database) =>
      reportBlocked(database, (await labWorker(database, 'default')).incarnation, [1], [2, 3]),
    { bound: fleet },
  ),
  once(
    'workers#clearBlocked',
    async (database) => clearBlocked(database, (await labWorker(database, 'default')).incarnation),
    { bound: fleet },
  ),
  once(
    'workers#setWorkerQueues',
    async (database) =>
      setWorkerQueues(database, (await labWorker(database, 'default')).incarnation, ['queue-01']),
    { bound: fleet },
  ),
  once(
    'workers#drainWorker',
    async (database) => drainWorker(database, (await labWorker(database, 'default')).incarnation, 'lab'),
    { bound: fleet },
  ),
  once(
    'workers#markWorkerStopping',
    async (database) => markWorkerStopping(database, (await labWorker(database, 'default')).incarnation),
    { bound: fleet },
  ),
  once(
    'workers#retireWorker',
    async (database) => retireWorker(database, (await labWorker(database, 'default')).incarnation),
    { bound: fleet },
  ),
  once(
    'workers#buryWorker',
    async (database) => buryWorker(database, (await labWorker(database, 'default')).incarnation, 0, 1),
    { bound: fleet },
  ),
]
