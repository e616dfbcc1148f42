import type { Row } from '../harness/row.ts'
import { measureTenants } from '../workload/measure-tenants.ts'

export const publishTenants: Row = {
  name: 'publish-tenants',
  title: 'events of 10,000 tenants, a route each, against one tenant',
  unit: 'events/s',
  goal: { of: 'ratio', atLeast: 0.5 },
  baselines: ['one-tenant'],
  maxRounds: 3,
  measure: measureTenants,
}
