import type { Row } from '../harness/row.ts'
import { measureJobsBesideScheduled } from '../workload/measure-jobs-beside-scheduled.ts'

export const jobScheduled: Row = {
  name: 'job-scheduled',
  title: 'runs/s with as many scheduled for later as the backlog ÷ without',
  unit: 'runs/s',
  goal: { of: 'ratio', atLeast: 0.95 },
  baselines: ['none-scheduled'],
  maxRounds: 3,
  measure: measureJobsBesideScheduled,
}
