import type { Row } from '../harness/row.ts'
import { measureIdleCpu } from '../workload/measure-idle-cpu.ts'

export const idleCpu: Row = {
  name: 'idle-cpu',
  title: 'processor time of node and database with idle endpoints',
  unit: '% of a core',
  goal: { of: 'value', atMost: 1 },
  baselines: [],
  maxRounds: 1,
  measure: measureIdleCpu,
}
