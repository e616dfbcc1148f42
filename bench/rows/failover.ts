import type { Row } from '../harness/row.ts'
import { measureFailover } from '../workload/measure-failover.ts'

export const failover: Row = {
  name: 'failover',
  title: 'kill -9 of a node until the other has delivered',
  unit: 's',
  goal: { of: 'value', atMost: 6 },
  baselines: [],
  maxRounds: 2,
  measure: measureFailover,
}
