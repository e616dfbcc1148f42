import { openTabs, type TabCall, tenTabs } from '../../workload/open-tabs.ts'
import type { Curve } from '../curve.ts'
import { measureTraffic, stopAndCount } from '../measure-traffic.ts'
import { createRoutedEndpoints, tenantNames } from '../prepare-database.ts'
import { startNodes } from '../start-nodes.ts'
import { costColumns, costPanel, ratePanel } from './shown.ts'

const ENDPOINTS = 10
const API_KEY = 'hf_bench'
/** Pages call the API once a second, and make some calls every few seconds. */
const LENGTH = 2

export const tabs: Curve = {
  name: 'tabs',
  title: 'More tabs of the dashboard',
  axisLabel: 'open tabs, each with a session and a stream of its own',
  formatX: String,
  points: { full: [0, 1, 10, 50], quick: [0, 10] },
  rounds: 2,
  timeoutMs: 120_000,
  panels: [ratePanel, costPanel],
  columns: [
    { heading: 'tabs', key: 'x' },
    ...costColumns,
    { heading: 'calls/s', key: 'callsPerSecond' },
    { heading: 'p95 of a call, ms', key: 'callP95Ms' },
    { heading: 'browsers (simulated), % of a core', key: 'browsersPercent' },
  ],
  async measure(context) {
    const { databaseUrl, x } = context
    const tenants = tenantNames(ENDPOINTS)
    await createRoutedEndpoints(databaseUrl, tenants)
    const nodes = await startNodes(1, { databaseUrl, apiKey: API_KEY })
    const long = { ...context, windowMs: context.windowMs * LENGTH }
    // The pages show deliveries that exist before the measurement.
    await measureTraffic({ ...context, warmUpMs: 0, windowMs: context.warmUpMs }, nodes, { tenants })
    const opened =
      x === 0
        ? null
        : await openTabs(nodes[0]?.url ?? '', API_KEY, await pages(nodes[0]?.url ?? '', tenants[0] ?? '', x))
    const openedMs = performance.now()
    const { values, statements } = await measureTraffic(long, nodes, { tenants })
    const seconds = (performance.now() - openedMs) / 1000
    const { calls = 0, p95Ms = 0, processorMs = 0 } = (await opened?.close()) ?? {}
    await stopAndCount(databaseUrl, nodes, 0)
    return {
      values: {
        ...values,
        ...(x > 0 && {
          callsPerSecond: calls / seconds,
          callP95Ms: p95Ms,
          browsersPercent: processorMs / 10 / seconds,
        }),
      },
      statements,
    }
  },
}

/** The ten pages of `tenTabs`, repeated up to `count`; the page of a delivery shows the last accepted one. */
async function pages(url: string, endpoint: string, count: number): Promise<TabCall[][]> {
  const answer = await fetch(`${url}/v1/deliveries?limit=1&endpoint=${endpoint}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  const { data } = (await answer.json()) as { data: { id: string; messageId: string }[] }
  const [delivery] = data
  if (delivery === undefined) throw new Error('there is no delivery to show')
  const ten = tenTabs(endpoint, delivery.id, delivery.messageId)
  return Array.from({ length: count }, (_, index) => ten[index % ten.length] ?? [])
}
