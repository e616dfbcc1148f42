import type { Row } from '../harness/row.ts'
import { measureHttp } from '../workload/measure-http.ts'

export const httpDeliveries: Row = {
  name: 'http-deliveries',
  title: 'HTTP deliveries to a sink',
  unit: 'requests/s',
  goal: { of: 'ratio', atLeast: 0.85 },
  baselines: ['undici'],
  measure: measureHttp,
}
