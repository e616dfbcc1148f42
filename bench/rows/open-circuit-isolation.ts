import type { Row } from '../harness/row.ts'
import { measureIsolation } from '../workload/measure-isolation.ts'

export const openCircuitIsolation: Row = {
  name: 'open-circuit-isolation',
  title: 'other endpoints beside a backlog behind an open circuit',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 0.95 },
  baselines: ['no-backlog'],
  maxRounds: 3,
  measure: measureIsolation,
}
