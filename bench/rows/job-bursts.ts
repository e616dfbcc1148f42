import type { EnqueueOptions } from '../contenders/contender.ts'
import type { Row } from '../harness/row.ts'
import { asJobs } from '../workload/as-jobs.ts'
import { measureBurst } from '../workload/measure-burst.ts'

const KEYS = 5000
const keyOf = (sequence: number) => `key-${sequence % KEYS}`

/** With all messages, BullMQ would take most of a minute for each row. */
const shareOfArms = { bullmq: 0.2 }

interface Burst {
  name: string
  feature: string
  baselines: readonly string[]
  share?: number
  enqueue?: EnqueueOptions
}

const bursts: readonly Burst[] = [
  { name: 'plain', feature: 'plain', baselines: ['graphile-worker', 'pg-boss', 'bullmq'] },
  {
    name: 'prioritised',
    feature: 'four priorities',
    baselines: ['graphile-worker', 'pg-boss', 'bullmq'],
    enqueue: { priority: (sequence) => sequence % 4 },
  },
  {
    name: 'ordered',
    feature: '5,000 ordering keys',
    baselines: ['graphile-worker', 'pg-boss'],
    enqueue: { orderingKey: keyOf },
  },
  {
    name: 'concurrent',
    feature: '5,000 concurrency keys',
    baselines: ['graphile-worker', 'pg-boss'],
    enqueue: { concurrencyKey: keyOf },
  },
  {
    name: 'unique',
    feature: 'a unique key each',
    baselines: ['graphile-worker', 'pg-boss', 'bullmq'],
    share: 0.5,
    enqueue: { uniqueKey: (sequence) => `unique-${sequence}` },
  },
  {
    name: 'delayed',
    feature: 'delayed by a second each',
    baselines: ['graphile-worker', 'pg-boss', 'bullmq'],
    enqueue: { delayMs: 1000 },
  },
]

export const jobBursts: readonly Row[] = bursts.map(({ name, feature, baselines, ...options }) => ({
  name: `job-burst-${name}`,
  title: `runs enqueued while a worker works, ${feature}, never analysed`,
  unit: 'runs/s',
  goal: { of: 'ratio', atLeast: 1 },
  detailsAtLeast: { worstHalfSecond: 0.2 },
  baselines,
  maxRounds: 3,
  measure: asJobs((context) => measureBurst(context, { after: 'fresh', shareOfArms, ...options })),
}))
