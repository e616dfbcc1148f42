import type { Row } from '../harness/row.ts'
import { measureStatistics, WITHOUT_STATISTICS } from '../workload/measure-statistics.ts'

export const statistics: Row = {
  name: 'statistics',
  title: 'deliveries while statistics are kept ÷ without',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 0.95 },
  baselines: [WITHOUT_STATISTICS],
  maxRounds: 5,
  measure: measureStatistics,
}
