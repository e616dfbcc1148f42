import type { Row } from '../harness/row.ts'
import { measureReplay } from '../workload/measure-replay.ts'

export const replay: Row = {
  name: 'replay',
  title: 'replaying what was delivered before',
  unit: 'deliveries/s',
  goal: { of: 'ratio', atLeast: 1 },
  baselines: ['plain-enqueue'],
  maxRounds: 3,
  measure: measureReplay,
}
