import type { Row } from '../harness/row.ts'
import { measureTabs, NO_TABS } from '../workload/measure-tabs.ts'

export const tenTabs: Row = {
  name: 'ten-tabs',
  title: 'deliveries while ten tabs show the dashboard ÷ without',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 0.95 },
  baselines: [NO_TABS],
  maxRounds: 5,
  measure: measureTabs,
}
