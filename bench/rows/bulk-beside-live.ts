import type { Row } from '../harness/row.ts'
import { measureBulkBesideLive } from '../workload/measure-bulk-beside-live.ts'

export const bulkBesideLive: Row = {
  name: 'bulk-beside-live',
  title: 'p99 of 500 messages a second beside bulk actions ÷ what it may be',
  unit: 'of max(2 × alone, 50 ms)',
  goal: { of: 'value', atMost: 1 },
  baselines: [],
  maxRounds: 1,
  sampleTimeoutMs: 600_000,
  measure: measureBulkBesideLive,
}
