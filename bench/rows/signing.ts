import type { Row } from '../harness/row.ts'
import { measureSigning } from '../workload/measure-http.ts'

/** What signing and the guard cost together: the other arm signs nothing, and opens its connections without asking where they lead. */
export const signing: Row = {
  name: 'signing',
  title: 'HTTP deliveries, signed and guarded ÷ neither',
  unit: 'requests/s',
  goal: { of: 'ratio', atLeast: 0.9 },
  baselines: ['plain'],
  measure: measureSigning,
}
