import { type Row, SUBJECT } from '../harness/row.ts'
import { asJobs } from '../workload/as-jobs.ts'
import { measureBurst } from '../workload/measure-burst.ts'
import { measureJobBytes } from '../workload/measure-job-bytes.ts'
import { measureBehindFlood } from '../workload/measure-job-lines.ts'

const KEYS = 5000
const PLAIN = 'plain'

/** Which runs a claim takes, and how many: Holdfast against itself, and its own values. */
export const jobLines: readonly Row[] = [
  {
    name: 'job-ordered-share',
    title: 'runs of 5,000 ordering keys ÷ plain ones, enqueued while a worker works',
    unit: 'runs/s',
    goal: { of: 'ratio', atLeast: 1 / 3 },
    baselines: [PLAIN],
    maxRounds: 3,
    measure: (context) => {
      const enqueue =
        context.arm === PLAIN ? {} : { orderingKey: (sequence: number) => `key-${sequence % KEYS}` }
      return asJobs((own) => measureBurst(own, { after: 'fresh', enqueue }))({ ...context, arm: SUBJECT })
    },
  },
  {
    name: 'job-one-key',
    title: 'runs of one ordering key, enqueued while a worker works',
    unit: 'runs/s',
    goal: { of: 'value', atLeast: 1000 },
    baselines: [],
    maxRounds: 3,
    measure: asJobs((context) =>
      measureBurst(context, { after: 'fresh', share: 0.05, enqueue: { orderingKey: () => 'key' } }),
    ),
  },
  {
    name: 'job-busy-key',
    title: "a run of another key behind 50,000 runs of a busy concurrency key, from the worker's start",
    unit: 'ms',
    goal: { of: 'value', atMost: 2000 },
    baselines: [],
    maxRounds: 3,
    measure: (context) =>
      measureBehindFlood(context, {
        share: 0.5,
        isHeld: true,
        key: (concurrencyKey) => ({ concurrencyKey }),
      }),
  },
  {
    name: 'job-fair-key',
    title: 'a run of another fair key while a worker works off 100,000 of the first',
    unit: 'ms',
    goal: { of: 'value', atMost: 1000 },
    baselines: [],
    maxRounds: 3,
    measure: (context) =>
      measureBehindFlood(context, { share: 1, isHeld: false, key: (fairKey) => ({ fairKey }) }),
  },
  {
    name: 'job-bytes',
    title: "worker's resident memory over 40,000 tiny runs and 1,200 of 1 MiB",
    unit: 'MiB',
    goal: { of: 'value', atMost: 400 },
    baselines: [],
    maxRounds: 1,
    measure: measureJobBytes,
  },
]
