import type { Row } from '../harness/row.ts'
import { measureBulkEnqueue } from '../workload/measure-bulk-enqueue.ts'

export const bulkEnqueue: Row = {
  name: 'bulk-enqueue',
  title: 'bulk enqueue',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 2 },
  baselines: ['graphile-worker', 'pg-boss', 'bullmq'],
  alsoShown: ['bare-table'],
  measure: measureBulkEnqueue,
}
