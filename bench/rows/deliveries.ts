import type { Row } from '../harness/row.ts'
import { measureProcessing } from '../workload/measure-processing.ts'

export const deliveries: Row = {
  name: 'deliveries',
  title: 'deliveries to an in-process endpoint',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 3, moonshot: 5 },
  baselines: ['graphile-worker'],
  alsoShown: ['pg-boss', 'bullmq'],
  measure: (context) => measureProcessing(context),
}
