import type { Row } from '../harness/row.ts'
import { measureSigning } from '../workload/measure-http.ts'

/** Both arms open their connections through the guard, which judges addresses when it connects and costs a request nothing. */
export const signing: Row = {
  name: 'signing',
  title: 'HTTP deliveries, signed ÷ unsigned',
  unit: 'requests/s',
  goal: { of: 'ratio', atLeast: 0.9 },
  baselines: ['unsigned'],
  measure: measureSigning,
}
