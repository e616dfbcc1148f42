import type { Row } from '../harness/row.ts'
import { measureJobFlatness } from '../workload/measure-job-flatness.ts'

export const jobFlatness: Row = {
  name: 'job-flatness',
  title: 'last fifth ÷ first fifth of the runs, beside an open transaction',
  unit: 'ratio',
  goal: { of: 'value', atLeast: 0.9 },
  baselines: [],
  maxRounds: 2,
  measure: measureJobFlatness,
}
