import type { Row } from '../harness/row.ts'
import { bulkEnqueue } from './bulk-enqueue.ts'
import { deliveries } from './deliveries.ts'
import { httpDeliveries } from './http-deliveries.ts'
import { idleLatency } from './idle-latency.ts'

export const rows: readonly Row[] = [bulkEnqueue, deliveries, idleLatency, httpDeliveries]
