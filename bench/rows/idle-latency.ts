import type { Row } from '../harness/row.ts'
import { measureIdleLatency } from '../workload/measure-idle-latency.ts'

export const idleLatency: Row = {
  name: 'idle-latency',
  title: 'idle latency publish → handler, p99',
  unit: 'ms',
  goal: { of: 'ratio', atMost: 0.5 },
  baselines: ['graphile-worker'],
  alsoShown: ['pg-boss', 'bullmq', 'bare-table'],
  maxRounds: 3,
  measure: measureIdleLatency,
}
