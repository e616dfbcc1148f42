import type { Row } from '../harness/row.ts'
import { measureBurst } from '../workload/measure-burst.ts'
import { measureEqualDueTimes } from '../workload/measure-equal-due-times.ts'

const KEYS = 5000
const keyOf = (sequence: number) => `key-${sequence % KEYS}`
/** With as many messages as the plain rows, graphile-worker takes minutes. */
const share = 0.1
const fresh = { after: 'fresh', share } as const

export const burstOrdered: Row = {
  name: 'burst-ordered',
  title: 'publishing while delivering, 5,000 ordering keys, never analysed',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 3 },
  baselines: ['graphile-worker'],
  maxRounds: 3,
  measure: (context) => measureBurst(context, { ...fresh, enqueue: { orderingKey: keyOf } }),
}

export const equalDueTimes: Row = {
  name: 'equal-due-times',
  title: 'messages that all fall due at the same time, never analysed',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 3 },
  baselines: ['graphile-worker'],
  maxRounds: 3,
  measure: measureEqualDueTimes,
}
