import type { Row } from '../harness/row.ts'
import { measureRecordStore } from '../workload/measure-record-store.ts'

export const recordStore: Row = {
  name: 'record-store',
  title: 'learning events into a record store, 1 % there already, 1 % refused',
  unit: 'events/s',
  goal: { of: 'value', atLeast: 1000, moonshot: 10_000 },
  baselines: [],
  maxRounds: 3,
  measure: measureRecordStore,
}
