import type { Row } from '../harness/row.ts'
import { measureBackfill } from '../workload/measure-backfill.ts'

export const learningBackfill: Row = {
  name: 'learning-backfill',
  title: 'a tracking log into a record store, from the command to the last statement',
  unit: 'events/s',
  goal: { of: 'value', atLeast: 10_000 },
  baselines: [],
  maxRounds: 3,
  measure: measureBackfill,
}
