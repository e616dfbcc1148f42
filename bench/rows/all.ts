import type { Row } from '../harness/row.ts'
import { amqpEndpoint } from './amqp-endpoint.ts'
import { apiBatch } from './api-batch.ts'
import { apiPublish } from './api-publish.ts'
import { brokerRuns } from './broker-runs.ts'
import { bulkBesideLive } from './bulk-beside-live.ts'
import { bulkEnqueue } from './bulk-enqueue.ts'
import { caliperTransform } from './caliper-transform.ts'
import { cronBurst } from './cron-burst.ts'
import { deliveries } from './deliveries.ts'
import { enqueueAtDepth } from './enqueue-at-depth.ts'
import { failover } from './failover.ts'
import { flatUnderOpenTransaction } from './flat-under-open-transaction.ts'
import { burstAfterIdle, freshBurst } from './fresh-burst.ts'
import { httpDeliveries } from './http-deliveries.ts'
import { idleCpu } from './idle-cpu.ts'
import { idleLatency } from './idle-latency.ts'
import { jobBursts } from './job-bursts.ts'
import { jobEnqueue } from './job-enqueue.ts'
import { jobFlatness } from './job-flatness.ts'
import { jobLatency } from './job-latency.ts'
import { jobLines } from './job-lines.ts'
import { jobRuns } from './job-runs.ts'
import { jobScheduled } from './job-scheduled.ts'
import { jsonataTransform } from './jsonata-transform.ts'
import { burstOrdered, equalDueTimes } from './keyed-bursts.ts'
import { latencyAtRates } from './latency-at-rate.ts'
import { learningBackfill } from './learning-backfill.ts'
import { learningTransform } from './learning-transform.ts'
import { mechanisms } from './mechanisms.ts'
import { memoryAtDepth } from './memory-at-depth.ts'
import { openCircuitIsolation } from './open-circuit-isolation.ts'
import { operatorCalls } from './operator-calls.ts'
import { publishFanOut } from './publish-fan-out.ts'
import { publishTenants } from './publish-tenants.ts'
import { recordStore } from './record-store.ts'
import { replay } from './replay.ts'
import { signing } from './signing.ts'
import { statistics } from './statistics.ts'
import { templateTransform } from './template-transform.ts'
import { tenTabs } from './ten-tabs.ts'
import { tricklingEndpoints } from './trickling-endpoints.ts'
import { xapiTransform } from './xapi-transform.ts'

export const rows: readonly Row[] = [
  bulkEnqueue,
  deliveries,
  freshBurst,
  burstAfterIdle,
  burstOrdered,
  equalDueTimes,
  ...latencyAtRates,
  idleLatency,
  httpDeliveries,
  signing,
  amqpEndpoint,
  flatUnderOpenTransaction,
  openCircuitIsolation,
  enqueueAtDepth,
  publishFanOut,
  publishTenants,
  replay,
  apiPublish,
  apiBatch,
  tricklingEndpoints,
  idleCpu,
  memoryAtDepth,
  failover,
  statistics,
  jobEnqueue,
  jobRuns,
  brokerRuns,
  jobLatency,
  jobFlatness,
  jobScheduled,
  ...mechanisms,
  ...jobBursts,
  ...jobLines,
  cronBurst,
  operatorCalls,
  tenTabs,
  bulkBesideLive,
  templateTransform,
  xapiTransform,
  recordStore,
  learningBackfill,
  learningTransform,
  caliperTransform,
  jsonataTransform,
]
