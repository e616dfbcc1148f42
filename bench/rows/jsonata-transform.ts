import type { Row } from '../harness/row.ts'
import { measureJsonata } from '../workload/measure-transforms.ts'

export const jsonataTransform: Row = {
  name: 'jsonata-transform',
  title: 'JSONata transform, compiled before',
  unit: 'µs',
  goal: { of: 'value', atMost: 200 },
  baselines: [],
  maxRounds: 3,
  measure: measureJsonata,
}
