import type { Row } from '../harness/row.ts'
import { measureFanOut } from '../workload/measure-fan-out.ts'

export const publishFanOut: Row = {
  name: 'publish-fan-out',
  title: 'deliveries stored by publishing, 10 of 100 routes match',
  unit: 'deliveries/s',
  goal: { of: 'ratio', atLeast: 0.5 },
  baselines: ['plain-enqueue'],
  maxRounds: 3,
  measure: measureFanOut,
}
