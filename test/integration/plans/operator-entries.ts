import type { Dataset } from '../../../bench/workload/operator-dataset.ts'
import { formatId, timeOfId } from '../../../src/core/delivery/ids.ts'
import { readFindings } from '../../../src/storage/alert-rules.ts'
import { listAlerts, purgeAlerts, readOpenAlerts } from '../../../src/storage/alerts.ts'
import { listApiKeys } from '../../../src/storage/api-keys.ts'
import { cleanupDeadLetters, purgeArchive } from '../../../src/storage/archive.ts'
import { readAudit } from '../../../src/storage/audit-log.ts'
import { purgeBacklogs, readBacklog, sampleBacklogs } from '../../../src/storage/backlogs.ts'
import { readChanges, readNewLetters, readPositions, readTotals } from '../../../src/storage/changes.ts'
import { listCircuitChanges, listCircuitChangesOf } from '../../../src/storage/circuit-changes.ts'
import { addUpLetters, countQueues } from '../../../src/storage/counts.ts'
import { readRecipients } from '../../../src/storage/criticality.ts'
import type { Database } from '../../../src/storage/database.ts'
import {
  groupDeadLetters,
  readDeadLetterHistory,
  readDeadLetters,
  redriveLetter,
  settleLetter,
  summariseDeadLetters,
} from '../../../src/storage/dead-letters.ts'
import { findDeliveriesOf, readAttempts, readDeliveryRecords } from '../../../src/storage/deliveries.ts'
import { readHealth } from '../../../src/storage/endpoint-health.ts'
import { listEndpoints, readEndpoint, reenableEndpoints } from '../../../src/storage/endpoints.ts'
import { readEventBody, readEventRecords } from '../../../src/storage/events.ts'
import { find } from '../../../src/storage/find.ts'
import { purgeIdempotencyKeys } from '../../../src/storage/idempotency-keys.ts'
import { listJobs, listQueues, readJob, readQueue } from '../../../src/storage/jobs.ts'
import { readMaintenance } from '../../../src/storage/maintenance-tasks.ts'
import { readGauges, readQueueGauges } from '../../../src/storage/metrics.ts'
import {
  actOnDelivery,
  listOperations,
  readDueOperations,
  readOperation,
} from '../../../src/storage/operations.ts'
import { readLiveNodes, readOverview } from '../../../src/storage/overview.ts'
import { beforeEverything, maxScannedPerPage } from '../../../src/storage/page.ts'
import { replayMessage } from '../../../src/storage/replays.ts'
import {
  purgeAccess,
  purgeAuditLog,
  purgeCircuitChanges,
  purgeKeyRates,
  purgeOperations,
  purgeSchedules,
} from '../../../src/storage/retention.ts'
import {
  countSiteEvents,
  purgeRollups,
  purgeSiteRollups,
  rollUpLanes,
  sampleSite,
  sumRollupsOf,
  sumSiteRollups,
} from '../../../src/storage/rollups.ts'
import { listRoutes, readRoute } from '../../../src/storage/routes.ts'
import { cancelRun, countOwedRuns, hastenRun, readRun, readRunRecords } from '../../../src/storage/runs.ts'
import { listSchedules } from '../../../src/storage/schedules.ts'
import { deleteExpiredSecrets } from '../../../src/storage/secrets.ts'
import { countWorkers, listWorkers } from '../../../src/storage/workers.ts'
import type { PlanEntry } from './entry.ts'

const pageRows = 51
const dayMs = 86_400_000

export const endpoint = (dataset: Dataset, k: number) =>
  `endpoint-${String(k % dataset.endpoints).padStart(5, '0')}`
const middle = ({ events, eventId }: Dataset) => eventId(Math.floor(events / 2))
const aroundMiddle = (dataset: Dataset, offset: number) => {
  const first = Math.floor(dataset.events / 2)
  return Array.from({ length: 50 }, (_, i) => dataset.eventId(first + i) + offset)
}

const aLook = {
  rows: 4 * maxScannedPerPage,
  why: 'a filter that no index serves is asked of a bounded number of rows; the cursor says where the look stopped',
}
const definitions = (rows: number) => ({ rows, why: 'a row for each endpoint, not for each message' })

type Finder = Parameters<typeof find>[1]
export type FilterOf = (dataset: Dataset) => object

/** Filters that an index serves, and those that rows are asked for one by one. */
function finding(
  what: Finder,
  served: Record<string, FilterOf>,
  looked: Record<string, FilterOf>,
): PlanEntry[] {
  const entry = (name: string, filter: FilterOf, bound?: PlanEntry['bound']): PlanEntry => ({
    of: 'find#find',
    what: `${what} ${name}`,
    run: async (database, dataset) => {
      const { ids } = await find(database, what, filter(dataset), beforeEverything, pageRows)
      return Math.max(ids.length, pageRows)
    },
    ...(bound !== undefined && { bound }),
  })
  return [
    ...Object.entries(served).map(([name, filter]) => entry(name, filter)),
    ...Object.entries(looked).map(([name, filter]) => entry(name, filter, aLook)),
  ]
}

const messageFilters: Record<string, FilterOf> = {
  'by a rare type': () => ({ eventType: 'rare.event' }),
  'by tenant': () => ({ tenant: 'tenant-7' }),
}
const errorFilters: Record<string, FilterOf> = {
  'by status': () => ({ statusCode: 503 }),
  'by an error that nobody had': () => ({ errorCode: 'nothing_like_this' }),
  'by text': () => ({ error: 'memory' }),
}

const inTransaction =
  (work: (client: Parameters<Parameters<Database['inTransaction']>[0]>[0]) => Promise<number>) =>
  (database: Database) =>
    database.inTransaction(work)

/** What people, pages, monitors and upkeep ask. Those that change something come last. */
export const operatorEntries: readonly PlanEntry[] = [
  ...finding(
    'events',
    {
      all: () => ({}),
      'by a common type': () => ({ eventType: 'type.*' }),
      unrouted: () => ({ state: 'unrouted' }),
      'by correlation': () => ({ correlationId: 'correlation-5' }),
      'of a day': () => ({ from: new Date(Date.now() - 10 * dayMs), to: new Date(Date.now() - 9 * dayMs) }),
    },
    messageFilters,
  ),
  ...finding(
    'deliveries',
    {
      all: () => ({}),
      'of an endpoint': (dataset) => ({ endpoint: endpoint(dataset, 0) }),
      'owed by an endpoint': (dataset) => ({ endpoint: endpoint(dataset, 2), state: 'pending' }),
      'dead of an endpoint': (dataset) => ({ endpoint: endpoint(dataset, 1), state: 'dead' }),
      'failed of an endpoint': (dataset) => ({ endpoint: endpoint(dataset, 1), statusCode: 503 }),
      owed: () => ({ state: 'pending' }),
      dead: () => ({ state: 'dead' }),
      succeeded: () => ({ state: 'succeeded' }),
      cancelled: () => ({ state: 'cancelled' }),
      'of a message': (dataset) => ({ messageId: formatId('msg', middle(dataset)) }),
      'by correlation': () => ({ correlationId: 'correlation-5' }),
      'of a day': () => ({ from: new Date(Date.now() - 10 * dayMs), to: new Date(Date.now() - 9 * dayMs) }),
    },
    {
      ...messageFilters,
      ...errorFilters,
      'cancelled of an endpoint': (dataset) => ({ endpoint: endpoint(dataset, 1), state: 'cancelled' }),
      'of a route': (dataset) => ({ route: `route-${endpoint(dataset, 5)}` }),
      'of an endpoint by a status of a success': (dataset) => ({
        endpoint: endpoint(dataset, 1),
        statusCode: 207,
      }),
      ...Object.fromEntries(
        ['pending', 'succeeded', 'dead', 'cancelled'].map((state): [string, FilterOf] => [
          `${state} by status`,
          () => ({ state, statusCode: 503 }),
        ]),
      ),
      'dead of an endpoint by text': (dataset) => ({
        endpoint: endpoint(dataset, 1),
        state: 'dead',
        error: 'memory',
      }),
    },
  ),
  ...finding(
    'dead_letters',
    {
      all: () => ({}),
      open: () => ({ state: 'open' }),
      discarded: () => ({ state: 'discarded' }),
      'of an endpoint': (dataset) => ({ endpoint: endpoint(dataset, 1) }),
      'open of an endpoint': (dataset) => ({ endpoint: endpoint(dataset, 1), state: 'open' }),
      'of a message': (dataset) => ({ messageId: formatId('msg', middle(dataset)) }),
      'by fingerprint': () => ({ fingerprint: '0123456789abcdef' }),
      'by id': (dataset) => ({ ids: [formatId('dlt', middle(dataset) + 8)] }),
    },
    {
      ...messageFilters,
      ...errorFilters,
      'of a job': () => ({ job: 'job-07' }),
      critical: () => ({ criticality: 'critical' }),
    },
  ),
  ...finding(
    'runs',
    {
      all: () => ({}),
      succeeded: () => ({ state: 'succeeded' }),
      waiting: () => ({ state: 'waiting' }),
      'of a time': (dataset) => ({ from: new Date(timeOfId(middle(dataset))) }),
    },
    {
      // Bundles are read as well, at most as many as runs may be scanned.
      running: () => ({ state: 'running' }),
      'of a worker': () => ({ worker: 'worker-3', state: 'running' }),
      'by tag': () => ({ tag: 'rare' }),
      'by correlation': () => ({ correlationId: 'correlation-7' }),
      'of a worker that has ended much': () => ({ worker: 'worker-3' }),
      owed: () => ({ state: 'owed', job: 'job-11' }),
      failed: () => ({ state: 'failed' }),
      'failed of a job': () => ({ state: 'failed', job: 'job-11' }),
      'timed out': () => ({ state: 'timed_out' }),
      cancelled: () => ({ state: 'cancelled' }),
      expired: () => ({ state: 'expired' }),
      scheduled: () => ({ state: 'scheduled' }),
      // Others may have newer ones.
      'of a queue': () => ({ queue: 'queue-00' }),
      'of a job': () => ({ job: 'job-11' }),
    },
  ),
  {
    of: 'events#readEventRecords',
    run: async (database, dataset) => (await readEventRecords(database, aroundMiddle(dataset, 0))).length,
  },
  {
    of: 'events#readEventBody',
    run: async (database, dataset) => Number((await readEventBody(database, middle(dataset))) !== undefined),
  },
  {
    of: 'deliveries#readDeliveryRecords',
    run: async (database, dataset) => (await readDeliveryRecords(database, aroundMiddle(dataset, 7))).length,
  },
  {
    of: 'deliveries#readAttempts',
    run: async (database, dataset) => (await readAttempts(database, aroundMiddle(dataset, 7), 100)).length,
  },
  {
    of: 'deliveries#findDeliveriesOf',
    run: async (database, dataset) => (await findDeliveriesOf(database, middle(dataset), 1000)).length,
  },
  {
    of: 'dead-letters#readDeadLetters',
    run: async (database, dataset) => (await readDeadLetters(database, aroundMiddle(dataset, 8))).length,
  },
  {
    of: 'dead-letters#readDeadLetterHistory',
    run: async (database, dataset) =>
      Number((await readDeadLetterHistory(database, middle(dataset) + 8)) !== undefined),
  },
  {
    of: 'dead-letters#groupDeadLetters',
    what: 'of all endpoints',
    run: async (database) => (await groupDeadLetters(database, { state: 'open' }, 500)).length,
    bound: { rows: 60_000, why: 'a row for each endpoint, error and state, not for each letter' },
  },
  {
    of: 'dead-letters#groupDeadLetters',
    what: 'of one endpoint',
    run: async (database, dataset) =>
      (await groupDeadLetters(database, { state: 'open', endpoint: endpoint(dataset, 1) }, 500)).length,
  },
  {
    of: 'dead-letters#groupDeadLetters',
    what: 'by text',
    run: async (database) =>
      (await groupDeadLetters(database, { state: 'open', error: 'memory' }, 500)).length,
    bound: { rows: 10_000, why: 'asked of the newest 10,000 letters; isComplete says so' },
  },
  {
    of: 'dead-letters#summariseDeadLetters',
    run: async (database) => (await summariseDeadLetters(database)).length,
    bound: { rows: 60_000, why: 'a row for each endpoint, error and state, not for each letter' },
  },
  {
    of: 'criticality#readRecipients',
    run: async (database) => (await readRecipients(database)).length,
    bound: { rows: 100_000, why: 'counts at most 100,000 overdue ones of an endpoint' },
  },
  {
    of: 'runs#readRun',
    what: 'that has ended',
    run: async (database, dataset) => Number((await readRun(database, middle(dataset) + 2048)) !== undefined),
  },
  {
    of: 'runs#readRun',
    what: 'that is owed',
    run: async (database, { eventId }) => Number((await readRun(database, eventId(50) + 3072)) !== undefined),
  },
  {
    of: 'runs#readRunRecords',
    run: async (database, dataset) => (await readRunRecords(database, aroundMiddle(dataset, 2048))).length,
  },
  {
    of: 'runs#countOwedRuns',
    run: async (database) => countOwedRuns(database, 'queue-00'),
    bound: { rows: 100_000, why: 'counted to 100,000, beyond that as queue_depths says' },
  },
  { of: 'jobs#listJobs', run: async (database) => (await listJobs(database, '', 100)).length },
  { of: 'jobs#readJob', run: async (database) => Number((await readJob(database, 'job-07')) !== undefined) },
  {
    of: 'jobs#listQueues',
    run: async (database) => (await listQueues(database, 100)).length,
    bound: { rows: 10_000, why: 'runs of each queue are counted to 1,000, beyond that as queue_depths says' },
  },
  {
    of: 'jobs#readQueue',
    run: async (database) => Number((await readQueue(database, 'queue-00')) !== undefined),
    bound: { rows: 1000, why: 'its runs are counted to 1,000, beyond that as queue_depths says' },
  },
  { of: 'workers#listWorkers', run: async (database) => (await listWorkers(database, 100)).length },
  { of: 'workers#countWorkers', run: async (database) => countWorkers(database) },
  { of: 'schedules#listSchedules', run: async (database) => (await listSchedules(database, '', 100)).length },
  {
    of: 'endpoints#listEndpoints',
    run: async (database) =>
      (await listEndpoints(database, { afterName: '', tag: null, tenant: null, state: null }, 101)).length,
  },
  {
    of: 'endpoints#listEndpoints',
    what: 'by tag',
    run: async (database) =>
      (await listEndpoints(database, { afterName: '', tag: 'team-3', tenant: null, state: null }, 101))
        .length,
    bound: definitions(10_000),
  },
  {
    of: 'endpoints#readEndpoint',
    run: async (database, dataset) =>
      Number((await readEndpoint(database, endpoint(dataset, 3))) !== undefined),
  },
  {
    of: 'endpoint-health#readHealth',
    what: 'of one with many letters',
    run: async (database, dataset) =>
      Number((await readHealth(database, endpoint(dataset, 1))) !== undefined),
  },
  {
    of: 'endpoint-health#readHealth',
    what: 'of one that owes much',
    run: async (database, dataset) =>
      Number((await readHealth(database, endpoint(dataset, 2))) !== undefined),
  },
  {
    of: 'rollups#sumRollupsOf',
    run: async (database, dataset) =>
      (
        await sumRollupsOf(database, endpoint(dataset, 2), {
          period: 2,
          lengthMs: 7 * dayMs,
          stepMs: 3_600_000,
        })
      )?.length ?? 0,
  },
  {
    of: 'rollups#countSiteEvents',
    bound: { rows: 2000, why: 'a day of minutes, a week of quarters or a month of hours' },
    run: async (database) => {
      await countSiteEvents(database, new Date(Date.now() - dayMs), null)
      return 1
    },
  },
  {
    of: 'rollups#sumSiteRollups',
    bound: { rows: 100_000, why: 'a few hundred rows of a window, and the 82 buckets of each' },
    run: async (database) =>
      (
        await sumSiteRollups(database, {
          siteStepSeconds: 3600,
          lengthMs: 30 * dayMs,
          stepMs: 6 * 3_600_000,
        })
      ).length,
  },
  { of: 'routes#listRoutes', run: async (database) => (await listRoutes(database, '', 101, null)).length },
  {
    of: 'routes#readRoute',
    run: async (database, dataset) =>
      Number((await readRoute(database, `route-${endpoint(dataset, 3)}`)) !== undefined),
  },
  { of: 'overview#readOverview', run: async (database) => (await readOverview(database, 200)).length },
  { of: 'overview#readLiveNodes', run: async (database) => (await readLiveNodes(database)).length },
  {
    of: 'changes#readTotals',
    run: async (database) => Number((await readTotals(database)).pending >= 0),
    bound: { rows: 60_000, why: 'a row for each endpoint, error and state' },
  },
  { of: 'changes#readChanges', run: async (database) => (await readChanges(database, 100, 50)).length },
  {
    of: 'changes#readNewLetters',
    run: async (database, dataset) => (await readNewLetters(database, middle(dataset), 50)).length,
  },
  {
    of: 'changes#readPositions',
    run: async (database) => Number((await readPositions(database)).change > 0),
  },
  ...finding(
    'audit',
    {
      all: () => ({}),
      'of one': () => ({ subject: 'endpoint:endpoint-00003' }),
      'by person': () => ({ actor: 'person-3' }),
      'by action': () => ({ action: 'circuit.opened' }),
    },
    {
      'of one by an action that it never had': () => ({
        subject: 'endpoint:endpoint-00003',
        action: 'nothing',
      }),
      'by person and action': () => ({ actor: 'person-3', action: 'circuit.opened' }),
    },
  ),
  {
    of: 'audit-log#readAudit',
    run: async (database) => (await readAudit(database, [1000, 900, 800])).length,
  },
  {
    of: 'alerts#listAlerts',
    what: 'all',
    run: async (database) =>
      (await listAlerts(database, ['pending', 'firing', 'resolved'], beforeEverything, pageRows)).length,
  },
  {
    of: 'alerts#listAlerts',
    what: 'firing',
    run: async (database) => (await listAlerts(database, ['firing'], beforeEverything, pageRows)).length,
  },
  { of: 'alerts#readOpenAlerts', run: async (database) => (await readOpenAlerts(database)).length },
  ...[
    'dead_letters',
    'dead_letter_rate',
    'failure_rate',
    'persisting_critical',
    'rejecting',
    'circuit_open',
    'backlog_age',
    'backlog',
    'node_lost',
    'source_disconnected',
    'broker_dead_letter_rate',
    'broker_dead_letters',
    'broker_disconnected',
  ].map(
    (kind): PlanEntry => ({
      of: 'alert-rules#readFindings',
      what: kind,
      run: async (database) =>
        (await readFindings(database, [{ kind, threshold: 1, endpoint: null, tag: null }])).flat().length,
      bound: {
        rows: 200_000,
        why: 'endpoints, their counts and the rollups of six minutes; at most 2,000 lanes and 100,000 critical ones',
      },
    }),
  ),
  {
    of: 'operations#listOperations',
    what: 'all',
    run: async (database) =>
      (await listOperations(database, beforeEverything, { state: null, kind: null }, pageRows)).length,
  },
  {
    of: 'operations#listOperations',
    what: 'running',
    run: async (database) =>
      (await listOperations(database, beforeEverything, { state: 'running', kind: null }, pageRows)).length,
  },
  {
    of: 'operations#readOperation',
    run: async (database, { eventId }) => Number((await readOperation(database, eventId(3))) !== undefined),
  },
  {
    of: 'operations#readDueOperations',
    run: async (database) => (await readDueOperations(database, 20)).ids.length,
  },
  {
    of: 'maintenance-tasks#readMaintenance',
    run: async (database) => (await readMaintenance(database)).tasks.length,
  },
  { of: 'api-keys#listApiKeys', run: async (database) => (await listApiKeys(database, '', 50)).length },
  {
    of: 'metrics#readGauges',
    run: async (database) => (await readGauges(database, { names: [], top: 100 })).length,
    bound: {
      rows: 200_000,
      why: 'a row for each endpoint, error and state; the heads of at most 2,000 lanes; 10,000 runs of each queue',
    },
  },
  {
    of: 'metrics#readQueueGauges',
    run: async (database) => (await readQueueGauges(database)).length,
    bound: { rows: 10_000, why: 'counted to 10,000 for each queue, beyond that as queue_depths says' },
  },
  {
    of: 'archive#purgeArchive',
    run: inTransaction((client) => purgeArchive(client, 500)),
    bound: { rows: 500, why: 'rows of a step' },
  },
  { of: 'archive#cleanupDeadLetters', run: inTransaction((client) => cleanupDeadLetters(client, 500)) },
  { of: 'alerts#purgeAlerts', run: inTransaction((client) => purgeAlerts(client, 90, 500)) },
  {
    of: 'retention#purgeAuditLog',
    run: inTransaction((client) => purgeAuditLog(client, 500)),
    bound: { rows: 500, why: 'rows of a step' },
  },
  {
    of: 'retention#purgeCircuitChanges',
    run: inTransaction((client) => purgeCircuitChanges(client, 90, 500)),
    bound: { rows: 500, why: 'rows of a step' },
  },
  { of: 'retention#purgeOperations', run: inTransaction((client) => purgeOperations(client, 90, 500)) },
  { of: 'retention#purgeAccess', run: inTransaction((client) => purgeAccess(client, 365, 500)) },
  { of: 'retention#purgeKeyRates', run: inTransaction((client) => purgeKeyRates(client, 500)) },
  { of: 'retention#purgeSchedules', run: inTransaction((client) => purgeSchedules(client, 90, 500)) },
  {
    of: 'circuit-changes#listCircuitChanges',
    run: async (database) => (await listCircuitChanges(database, 1_000_000_000, pageRows)).length,
  },
  {
    of: 'circuit-changes#listCircuitChangesOf',
    run: async (database) =>
      (await listCircuitChangesOf(database, 'endpoint-00003', 1_000_000_000, pageRows))?.length ?? -1,
  },
  {
    of: 'rollups#sampleSite',
    bound: { rows: 20_000, why: 'the events of ten minutes, each counted to a bound' },
    run: inTransaction((client) => sampleSite(client, 10, 1000)),
  },
  {
    of: 'backlogs#sampleBacklogs',
    run: inTransaction((client) => sampleBacklogs(client, 500)),
    bound: { rows: 12_000, why: 'a row for each endpoint, not for each message' },
  },
  { of: 'backlogs#purgeBacklogs', run: inTransaction((client) => purgeBacklogs(client, 500)) },
  {
    of: 'backlogs#readBacklog',
    run: async (database, dataset) => {
      const window = { period: 1, lengthMs: 86_400_000, stepMs: 900_000 }
      return (await readBacklog(database, endpoint(dataset, 0), window)).length
    },
    bound: { rows: 1500, why: 'a sample for each minute of a day' },
  },
  { of: 'rollups#purgeSiteRollups', run: inTransaction((client) => purgeSiteRollups(client, 500)) },
  { of: 'rollups#purgeRollups', run: inTransaction((client) => purgeRollups(client, 500)) },
  {
    of: 'rollups#rollUpLanes',
    run: inTransaction(async (client) => (await rollUpLanes(client, 2, 50)) * 72 * 8),
  },
  {
    of: 'idempotency-keys#purgeIdempotencyKeys',
    run: inTransaction((client) => purgeIdempotencyKeys(client, 500)),
  },
  { of: 'secrets#deleteExpiredSecrets', run: inTransaction(deleteExpiredSecrets) },
  { of: 'endpoints#reenableEndpoints', run: inTransaction(reenableEndpoints) },
  { of: 'counts#countQueues', run: inTransaction((client) => countQueues(client, 1000)) },
  {
    of: 'counts#addUpLetters',
    run: inTransaction((client) => addUpLetters(client, 1000)),
    bound: definitions(60_000),
  },
  {
    of: 'dead-letters#settleLetter',
    run: async (database, { eventId }) => {
      await settleLetter(
        database,
        formatId('dlt', eventId(11) + 8),
        { state: 'resolved', note: null, action: null },
        'lab',
      )
      return 1
    },
  },
  {
    of: 'dead-letters#redriveLetter',
    run: async (database, { eventId }) =>
      Number((await redriveLetter(database, formatId('dlt', eventId(12) + 8), 'lab')) !== ''),
  },
  {
    of: 'replays#replayMessage',
    run: async (database, { eventId }) =>
      (await replayMessage(database, formatId('msg', eventId(13)), {}, 'lab')).length,
  },
  {
    of: 'operations#actOnDelivery',
    run: async (database, { eventId }) =>
      Number(await actOnDelivery(database, formatId('dlv', eventId(14) + 6), 'cancel', null, 'lab')),
  },
  {
    of: 'runs#hastenRun',
    run: async (database, { eventId }) => Number(await hastenRun(database, eventId(50) + 3072, 'lab')),
  },
  {
    of: 'runs#cancelRun',
    run: async (database, { eventId }) =>
      Number((await cancelRun(database, eventId(55) + 3072, null, 'lab')) !== null),
  },
]
