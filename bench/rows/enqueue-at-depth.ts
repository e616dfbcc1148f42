import type { Row } from '../harness/row.ts'
import { measureEnqueueAtDepth } from '../workload/measure-enqueue-at-depth.ts'

export const enqueueAtDepth: Row = {
  name: 'enqueue-at-depth',
  title: 'enqueue on top of a backlog',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 0.9 },
  baselines: ['depth-1000'],
  maxRounds: 2,
  measure: measureEnqueueAtDepth,
}
