import type { Row } from '../harness/row.ts'
import { measureOperatorCalls } from '../workload/measure-operator-calls.ts'

export const operatorCalls: Row = {
  name: 'operator-calls',
  title: 'the slowest call of the API, 10 M attempts never analysed, p95',
  unit: 'ms',
  goal: { of: 'value', atMost: 100 },
  baselines: [],
  maxRounds: 1,
  sampleTimeoutMs: 600_000,
  measure: measureOperatorCalls,
}
