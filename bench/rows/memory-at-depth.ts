import type { Row } from '../harness/row.ts'
import { measureMemory } from '../workload/measure-memory.ts'

export const memoryAtDepth: Row = {
  name: 'memory-at-depth',
  title: "node's resident memory beside a backlog",
  unit: 'MiB',
  goal: { of: 'value', atMost: 200 },
  baselines: [],
  maxRounds: 1,
  measure: measureMemory,
}
