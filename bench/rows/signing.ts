import type { Row } from '../harness/row.ts'
import { measureSigning } from '../workload/measure-http.ts'

/** The cost of signing and the network guard together: the other arm signs nothing, and connects without checking the address. */
export const signing: Row = {
  name: 'signing',
  title: 'HTTP deliveries, signed and guarded ÷ neither',
  unit: 'requests/s',
  goal: { of: 'ratio', atLeast: 0.9 },
  baselines: ['plain'],
  measure: measureSigning,
}
