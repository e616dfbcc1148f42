import type { Row } from '../harness/row.ts'
import { measureLearning } from '../workload/measure-learning.ts'

export const learningTransform: Row = {
  name: 'learning-transform',
  title: 'tracking events into statements, a second and core, the slower format',
  unit: 'events/s',
  goal: { of: 'value', atLeast: 20_000 },
  baselines: [],
  maxRounds: 3,
  measure: measureLearning,
}
