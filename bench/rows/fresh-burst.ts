import type { Row } from '../harness/row.ts'
import { measureBurst } from '../workload/measure-burst.ts'

export const freshBurst: Row = {
  name: 'fresh-burst',
  title: 'publishing while delivering, fresh database that nobody analysed',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 3 },
  baselines: ['graphile-worker'],
  measure: (context) => measureBurst(context, { after: 'fresh' }),
}

export const burstAfterIdle: Row = {
  name: 'burst-after-idle',
  title: 'the same after an idle time in which vacuum emptied the tables',
  unit: 'messages/s',
  goal: { of: 'ratio', atLeast: 3 },
  baselines: ['graphile-worker'],
  measure: (context) => measureBurst(context, { after: 'idle' }),
}
