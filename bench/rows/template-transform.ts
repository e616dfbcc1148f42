import type { Row } from '../harness/row.ts'
import { measureTemplate } from '../workload/measure-transforms.ts'

export const templateTransform: Row = {
  name: 'template-transform',
  title: 'template transform',
  unit: 'µs',
  goal: { of: 'value', atMost: 20 },
  baselines: [],
  maxRounds: 3,
  measure: measureTemplate,
}
