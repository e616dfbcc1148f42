import type { Row } from '../harness/row.ts'
import { asJobs } from '../workload/as-jobs.ts'
import { measureBulkEnqueue } from '../workload/measure-bulk-enqueue.ts'
import { measureIdleLatency } from '../workload/measure-idle-latency.ts'
import {
  A_ROW_EACH,
  againstAnotherClient,
  againstARowEach,
  FROM_ANOTHER_CLIENT,
} from '../workload/measure-mechanisms.ts'
import { measureProcessing } from '../workload/measure-processing.ts'

/** Mechanisms that add code: each must save at least a tenth, or it is removed. */
export const mechanisms: readonly Row[] = [
  {
    name: 'fast-path',
    title: 'idle latency by the same-process fast path ÷ without it, p99',
    unit: 'ms',
    goal: { of: 'ratio', atMost: 0.9 },
    baselines: [FROM_ANOTHER_CLIENT],
    maxRounds: 5,
    measure: againstAnotherClient(measureIdleLatency),
  },
  {
    name: 'assigned-on-enqueue',
    title: 'pick-up latency of a run assigned on enqueue ÷ without it, p99',
    unit: 'ms',
    goal: { of: 'ratio', atMost: 0.9 },
    baselines: [FROM_ANOTHER_CLIENT],
    maxRounds: 5,
    measure: againstAnotherClient(asJobs(measureIdleLatency)),
  },
  {
    name: 'bundles-enqueue',
    title: 'bulk enqueue of runs in bundles ÷ with a row each',
    unit: 'runs/s',
    goal: { of: 'ratio', atLeast: 1.1 },
    baselines: [A_ROW_EACH],
    maxRounds: 5,
    measure: againstARowEach(asJobs(measureBulkEnqueue)),
  },
  {
    name: 'bundles-runs',
    title: 'job runs out of bundles ÷ out of a row each',
    unit: 'runs/s',
    goal: { of: 'ratio', atLeast: 1.1 },
    baselines: [A_ROW_EACH],
    maxRounds: 5,
    measure: againstARowEach(asJobs((context) => measureProcessing(context))),
  },
]
