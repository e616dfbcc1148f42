import type { Row } from '../harness/row.ts'
import { measureLatencyAtRate } from '../workload/measure-latency-at-rate.ts'

const atRate = (perSecond: number): Row => ({
  name: `latency-${perSecond}`,
  title: `latency publish → handler at ${perSecond.toLocaleString('en')} a second, never analysed, p99`,
  unit: 'ms',
  goal: { of: 'ratio', atMost: 0.5 },
  baselines: ['graphile-worker'],
  maxRounds: 3,
  measure: (context) => measureLatencyAtRate(context, perSecond),
})

export const latencyAtRates: readonly Row[] = [500, 2000, 5000].map(atRate)
