import type { Row } from '../harness/row.ts'
import { measureXapi } from '../workload/measure-learning.ts'

/** 50 µs of CPU time are 20,000 events a second per core. */
export const xapiTransform: Row = {
  name: 'xapi-transform',
  title: 'xapi transform, processor time',
  unit: 'µs',
  goal: { of: 'value', atMost: 50 },
  baselines: [],
  maxRounds: 3,
  measure: measureXapi,
}
