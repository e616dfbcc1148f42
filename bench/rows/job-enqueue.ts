import type { Row } from '../harness/row.ts'
import { asJobs } from '../workload/as-jobs.ts'
import { measureBulkEnqueue } from '../workload/measure-bulk-enqueue.ts'

export const jobEnqueue: Row = {
  name: 'job-enqueue',
  title: 'bulk enqueue of job runs',
  unit: 'runs/s',
  goal: { of: 'ratio', atLeast: 2 },
  baselines: ['graphile-worker', 'pg-boss', 'bullmq'],
  measure: asJobs(measureBulkEnqueue),
}
