import type { Row } from '../harness/row.ts'
import { measureApiBatch, SDK_BATCHES } from '../workload/measure-api.ts'

export const apiBatch: Row = {
  name: 'api-batch',
  title: 'POST /v1/events/batch, against publishBatch of the SDK',
  unit: 'events/s',
  goal: { of: 'ratio', atLeast: 0.7 },
  baselines: [SDK_BATCHES],
  maxRounds: 3,
  measure: measureApiBatch,
}
