import type { Row } from '../harness/row.ts'
import { asJobs } from '../workload/as-jobs.ts'
import { measureBurst } from '../workload/measure-burst.ts'
import { measureEqualDueTimes } from '../workload/measure-equal-due-times.ts'

const KEYS = 5000
const keyOf = (sequence: number) => `key-${sequence % KEYS}`
/** graphile-worker takes minutes for as many as the plain rows have. */
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

export const jobBurstPrioritised: Row = {
  name: 'job-burst-prioritised',
  title: 'runs enqueued while a worker works, four priorities, never analysed',
  unit: 'runs/s',
  goal: { of: 'ratio', atLeast: 1 },
  baselines: ['graphile-worker'],
  maxRounds: 3,
  measure: asJobs((context) =>
    measureBurst(context, { ...fresh, enqueue: { priority: (sequence) => sequence % 4 } }),
  ),
}

export const jobBurstOrdered: Row = {
  name: 'job-burst-ordered',
  title: 'runs enqueued while a worker works, 5,000 ordering keys, never analysed',
  unit: 'runs/s',
  goal: { of: 'ratio', atLeast: 1 },
  baselines: ['graphile-worker'],
  maxRounds: 3,
  measure: asJobs((context) => measureBurst(context, { ...fresh, enqueue: { orderingKey: keyOf } })),
}

export const jobBurstConcurrent: Row = {
  name: 'job-burst-concurrent',
  title: 'runs enqueued while a worker works, 5,000 concurrency keys, never analysed',
  unit: 'runs/s',
  goal: { of: 'value', atLeast: 2000 },
  baselines: [],
  maxRounds: 3,
  measure: asJobs((context) => measureBurst(context, { ...fresh, enqueue: { concurrencyKey: keyOf } })),
}
