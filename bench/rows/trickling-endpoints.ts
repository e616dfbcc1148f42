import type { Row } from '../harness/row.ts'
import { measureTrickling } from '../workload/measure-trickling.ts'

export const tricklingEndpoints: Row = {
  name: 'trickling-endpoints',
  title: 'a few deliveries for each of many endpoints',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 0.5 },
  baselines: ['one-endpoint'],
  maxRounds: 3,
  measure: measureTrickling,
}
