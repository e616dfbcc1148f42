import type { Row } from '../harness/row.ts'
import { measureBrokerRuns } from '../workload/measure-broker-runs.ts'

export const brokerRuns: Row = {
  name: 'broker-runs',
  title: 'job runs over RabbitMQ, by one node and one worker',
  unit: 'runs/s',
  goal: { of: 'ratio', atLeast: 1 },
  baselines: ['bullmq'],
  maxRounds: 3,
  sampleTimeoutMs: 600_000,
  measure: measureBrokerRuns,
}
