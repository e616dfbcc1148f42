import type { Row } from '../harness/row.ts'
import { asJobs } from '../workload/as-jobs.ts'
import { measureIdleLatency } from '../workload/measure-idle-latency.ts'

export const jobLatency: Row = {
  name: 'job-latency',
  title: 'pick-up latency of an idle worker, p99',
  unit: 'ms',
  goal: { of: 'ratio', atMost: 0.5 },
  baselines: ['graphile-worker'],
  alsoShown: ['pg-boss', 'bullmq'],
  maxRounds: 3,
  measure: asJobs(measureIdleLatency),
}
