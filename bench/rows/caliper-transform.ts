import type { Row } from '../harness/row.ts'
import { measureCaliper } from '../workload/measure-learning.ts'

/** 50 µs of CPU time are 20,000 events a second per core. */
export const caliperTransform: Row = {
  name: 'caliper-transform',
  title: 'caliper transform, processor time',
  unit: 'µs',
  goal: { of: 'value', atMost: 50 },
  baselines: [],
  maxRounds: 3,
  measure: measureCaliper,
}
