import type { Curve } from '../curve.ts'
import { measureTraffic, stopAndCount } from '../measure-traffic.ts'
import { createRoutedEndpoints, tenantNames } from '../prepare-database.ts'
import { startNodes } from '../start-nodes.ts'
import { costColumns, costPanel, ratePanel } from './shown.ts'

const ENDPOINTS = 100

export const nodes: Curve = {
  name: 'nodes',
  title: 'More nodes on one database',
  axisLabel: 'node processes, 100 endpoints divided among them',
  formatX: String,
  points: { full: [1, 2, 4, 8], quick: [1, 4] },
  rounds: 2,
  timeoutMs: 120_000,
  panels: [ratePanel, costPanel],
  columns: [{ heading: 'nodes', key: 'x' }, ...costColumns, { heading: 'connections', key: 'connections' }],
  async measure(context) {
    const { databaseUrl, x } = context
    const tenants = tenantNames(ENDPOINTS)
    await createRoutedEndpoints(databaseUrl, tenants)
    const started = await startNodes(x, { databaseUrl })
    const measured = await measureTraffic(context, started, { tenants })
    await stopAndCount(databaseUrl, started, 0)
    return measured
  },
}
