import type { Curve } from '../curve.ts'
import { measureTraffic, stopAndCount } from '../measure-traffic.ts'
import { createRoutedEndpoints, tenantNames } from '../prepare-database.ts'
import { startNodes } from '../start-nodes.ts'
import { costColumns, costPanel, ratePanel } from './shown.ts'

/** Consecutive events never go to the same endpoint. */
export const endpoints: Curve = {
  name: 'endpoints',
  title: 'More endpoints',
  axisLabel: 'endpoints, each with the same share of the traffic',
  formatX: (x) => x.toLocaleString('en-US'),
  points: { full: [1, 10, 100, 1000, 10_000], quick: [1, 100, 10_000] },
  rounds: 2,
  timeoutMs: 90_000,
  panels: [ratePanel, costPanel],
  columns: [{ heading: 'endpoints', key: 'x' }, ...costColumns],
  async measure(context) {
    const { databaseUrl, x } = context
    const tenants = tenantNames(x)
    await createRoutedEndpoints(databaseUrl, tenants)
    const nodes = await startNodes(1, { databaseUrl })
    const measured = await measureTraffic(context, nodes, { tenants })
    await stopAndCount(databaseUrl, nodes, 0)
    return measured
  },
}
