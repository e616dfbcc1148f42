import type { Row } from '../harness/row.ts'
import { measureCronBurst } from '../workload/measure-cron-burst.ts'

export const cronBurst: Row = {
  name: 'cron-burst',
  title: '10,000 cron schedules of one minute: until the last has fired, each once',
  unit: 's',
  goal: { of: 'value', atMost: 60 },
  baselines: [],
  maxRounds: 1,
  measure: measureCronBurst,
}
