import type { Row } from '../harness/row.ts'
import { bulkEnqueue } from './bulk-enqueue.ts'
import { deliveries } from './deliveries.ts'
import { enqueueAtDepth } from './enqueue-at-depth.ts'
import { failover } from './failover.ts'
import { flatUnderOpenTransaction } from './flat-under-open-transaction.ts'
import { httpDeliveries } from './http-deliveries.ts'
import { idleCpu } from './idle-cpu.ts'
import { idleLatency } from './idle-latency.ts'
import { jsonataTransform } from './jsonata-transform.ts'
import { memoryAtDepth } from './memory-at-depth.ts'
import { openCircuitIsolation } from './open-circuit-isolation.ts'
import { publishFanOut } from './publish-fan-out.ts'
import { publishTenants } from './publish-tenants.ts'
import { templateTransform } from './template-transform.ts'
import { tricklingEndpoints } from './trickling-endpoints.ts'

export const rows: readonly Row[] = [
  bulkEnqueue,
  deliveries,
  idleLatency,
  httpDeliveries,
  flatUnderOpenTransaction,
  openCircuitIsolation,
  enqueueAtDepth,
  publishFanOut,
  publishTenants,
  tricklingEndpoints,
  idleCpu,
  memoryAtDepth,
  failover,
  templateTransform,
  jsonataTransform,
]
