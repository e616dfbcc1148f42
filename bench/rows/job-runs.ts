import type { Row } from '../harness/row.ts'
import { asJobs } from '../workload/as-jobs.ts'
import { measureProcessing } from '../workload/measure-processing.ts'

export const jobRuns: Row = {
  name: 'job-runs',
  title: 'job runs by a worker, shared lane',
  unit: 'runs/s',
  goal: { of: 'ratio', atLeast: 2, moonshot: 3 },
  baselines: ['graphile-worker', 'pg-boss', 'bullmq'],
  measure: asJobs((context) => measureProcessing(context)),
}
