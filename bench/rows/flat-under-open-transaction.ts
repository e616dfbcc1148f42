import type { Row } from '../harness/row.ts'
import { measureFlatness } from '../workload/measure-flatness.ts'

export const flatUnderOpenTransaction: Row = {
  name: 'flat-under-open-transaction',
  title: 'last tenth ÷ first tenth, 10 % retried, beside an open transaction',
  unit: 'ratio',
  goal: { of: 'value', atLeast: 0.9 },
  baselines: [],
  maxRounds: 2,
  measure: measureFlatness,
}
