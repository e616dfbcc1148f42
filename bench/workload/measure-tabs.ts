import { Authenticator } from '../../dist/api/access/authenticator.js'
import { ApiServer } from '../../dist/api/api-server.js'
import { Holdfast } from '../../dist/index.js'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { checkpoint } from './checkpoint.ts'
import { drain } from './drain.ts'
import { createEndpoints, endpointNames, HANDLER, MAX_PENDING } from './endpoints.ts'
import { openTabs, tenTabs } from './open-tabs.ts'
import { raiseGlobalBound } from './raise-global-bound.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { sendPayloads } from './send-payloads.ts'
import { watchSettling } from './watch-settling.ts'

export const NO_TABS = 'no-tabs'

const KEY = 'hf_bench'
const ENDPOINTS = 10
/** About ten seconds instead of two: pages call the API once a second, and make some calls every few seconds. */
const LENGTH = 6
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Deliveries committed per second by a node that also serves the API: for the subject with ten open tabs, for the other arm with none. */
export async function measureTabs(context: SampleContext): Promise<Sample> {
  const { databaseUrl } = context
  const messages = context.messages * LENGTH
  const watch = watchSettling()
  const holdfast = new Holdfast({ databaseUrl, observer: watch.observer, handlers: { [HANDLER]: () => {} } })
  const database = () => holdfast.database
  const server = new ApiServer({
    holdfast,
    database,
    authenticator: new Authenticator({ database, adminKey: KEY }),
    logger: silent,
    host: '127.0.0.1',
    port: 0,
  })
  try {
    await holdfast.migrate()
    await raiseGlobalBound(databaseUrl, MAX_PENDING)
    const names = endpointNames(ENDPOINTS)
    await createEndpoints(holdfast, names)
    for (const name of names) await sendPayloads(holdfast, name, messages / ENDPOINTS)
    await refreshStatistics(databaseUrl)
    await checkpoint(databaseUrl)
    await server.start()
    const tabs = context.arm === SUBJECT ? await openTabsOf(server.url, names[0] ?? '') : null
    const { perSecond, elapsedMs } = await drain(holdfast, watch, messages)
    const { calls = 0, bytes = 0, p95Ms = 0 } = (await tabs?.close()) ?? {}
    return {
      value: perSecond,
      details: { messages, elapsedMs, calls, bytes, callP95Ms: p95Ms },
      settings: { endpoints: ENDPOINTS, tabs: tabs === null ? 0 : 10 },
    }
  } finally {
    await server.stop()
    await holdfast.stop()
  }
}

/** The page of a delivery shows the last accepted one. */
async function openTabsOf(url: string, endpoint: string) {
  const answer = await fetch(`${url}/v1/deliveries?limit=1&endpoint=${endpoint}`, {
    headers: { authorization: `Bearer ${KEY}` },
  })
  const { data } = (await answer.json()) as { data: { id: string; messageId: string }[] }
  const [delivery] = data
  if (delivery === undefined) throw new Error('there is no delivery to show')
  return openTabs(url, KEY, tenTabs(endpoint, delivery.id, delivery.messageId))
}
