import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A call that a page repeats: when the stream reports one of its topics, or at an interval. */
export interface TabCall {
  path: string
  topics?: readonly ('traffic' | 'letters' | 'changes')[]
  pollMs?: number
}

export interface TabsReport {
  calls: number
  bytes: number
  /** From a request to the end of its response. */
  p95Ms: number
  /** CPU time of the process that simulates the browsers. */
  processorMs: number
}

export interface OpenTabs {
  close(): Promise<TabsReport>
}

/** The call that every page makes for its frame. */
const frame: TabCall = { path: '/v1/overview', topics: ['letters', 'changes'], pollMs: 10_000 }

/**
 * Ten open pages, with the calls, topics and intervals that the dashboard's pages pass to `useApi` and `useList`. Each tab has its own session and
 * stream, as if each user had one tab; tabs of one browser would share the stream.
 */
export function tenTabs(endpoint: string, deliveryId: string, eventId: string): readonly TabCall[][] {
  const every: NonNullable<TabCall['topics']> = ['traffic', 'letters', 'changes']
  const overview = { path: '/v1/overview', topics: every }
  const overviewPage = [overview, { path: '/v1/statistics?window=24h', pollMs: 15_000 }]
  const pages: TabCall[][] = [
    overviewPage,
    overviewPage,
    [{ path: '/v1/endpoint-health?troubled=false', topics: ['traffic', 'changes'] }],
    [
      { path: `/v1/endpoints/${endpoint}`, topics: ['changes'] },
      { path: `/v1/endpoints/${endpoint}/health`, topics: ['traffic', 'changes'] },
      { path: `/v1/endpoints/${endpoint}/statistics?window=24h`, pollMs: 15_000 },
      { path: `/v1/deliveries?endpoint=${endpoint}&limit=30`, topics: ['traffic'] },
      { path: `/v1/circuit-changes?endpoint=${endpoint}&limit=50`, topics: ['changes'] },
    ],
    [{ path: '/v1/deliveries', topics: ['traffic', 'letters'] }],
    [
      { path: `/v1/deliveries/${deliveryId}`, topics: every },
      { path: `/v1/deliveries/${deliveryId}/why`, topics: every },
      { path: `/v1/events/${eventId}` },
    ],
    [{ path: '/v1/events', topics: ['traffic'] }],
    [
      overview,
      { path: '/v1/dead-letters/groups?state=open', topics: ['letters', 'changes'] },
      { path: '/v1/dead-letters/groups?state=open&limit=1', topics: ['letters', 'changes'] },
    ],
    [{ path: '/v1/runs', pollMs: 3000 }],
    [
      { path: '/v1/system', pollMs: 5000 },
      { path: '/v1/maintenance', pollMs: 5000 },
      { path: '/v1/system/checks', pollMs: 30_000 },
      { path: '/v1/system/tables?limit=500', pollMs: 60_000 },
    ],
  ]
  return pages.map((calls) => (calls.includes(overview) ? calls : [frame, ...calls]))
}

const processPath = fileURLToPath(new URL('./open-tabs-process.mjs', import.meta.url))

/** Resolves when every tab has signed in, opened its stream and loaded its page. */
export async function openTabs(
  url: string,
  key: string,
  tabs: readonly (readonly TabCall[])[],
): Promise<OpenTabs> {
  const child = fork(processPath, { execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] })
  const failed = new Promise<never>((_, reject) => {
    child.on('message', ({ error }: { error?: string }) => {
      if (error !== undefined) reject(new Error(error))
    })
    child.once('exit', () => reject(new Error('the tabs ended without a report')))
  })
  // A failure between two calls is thrown by the second one.
  failed.catch(() => {})
  const answer = async <Answer>(): Promise<Answer> => {
    const [message] = (await Promise.race([failed, once(child, 'message')])) as [Answer]
    return message
  }
  const opened = answer()
  child.send({ url, key, tabs })
  await opened
  return {
    async close() {
      const report = answer<TabsReport>()
      child.send('close')
      return report
    },
  }
}
