import { setTimeout as sleep } from 'node:timers/promises'
import { Holdfast } from '../../../dist/index.js'
import { percentile } from '../../harness/statistics.ts'
import { checkpoint } from '../../workload/checkpoint.ts'
import type { Curve, Measured, PointContext } from '../curve.ts'
import { fillBacklog } from '../fill-backlog.ts'
import { type GrowthNode, settledBy } from '../growth-node.ts'
import { measureTraffic, stopAndCount } from '../measure-traffic.ts'
import { Meter } from '../meter.ts'
import { createRoutedEndpoints } from '../prepare-database.ts'
import { EVENT_TYPE, Publisher } from '../publisher.ts'
import { startNodes } from '../start-nodes.ts'
import { storedBytes } from '../stored-bytes.ts'

const LIVE = 'live'
const WAITING = 'waiting'
const PROBE_EVERY_MS = 5
const POLL_MS = 25

/** Live traffic to one endpoint, first while deliveries of another one wait because it is paused, then while they drain. */
export const backlog: Curve = {
  name: 'backlog',
  title: 'A larger backlog',
  axisLabel: 'deliveries that wait for another endpoint',
  formatX: (x) => (x >= 1e6 ? `${x / 1e6} M` : x >= 1000 ? `${x / 1000} k` : String(x)),
  points: { full: [0, 10_000, 100_000, 1_000_000, 5_000_000], quick: [0, 100_000, 500_000] },
  rounds: 1,
  timeoutMs: 240_000,
  panels: [
    {
      title: 'deliveries per second',
      series: [
        { key: 'perSecond', label: 'live traffic beside the waiting backlog' },
        { key: 'drainPerSecond', label: 'the backlog itself, once it may go' },
      ],
    },
    {
      title: 'processor time per delivery, µs',
      series: [
        { key: 'costMicros', label: 'live: node and PostgreSQL delivering' },
        { key: 'drainCostMicros', label: 'draining: node and PostgreSQL' },
      ],
    },
    {
      title: 'from publish to handler, 200 events a second beside the draining backlog, ms',
      series: [
        { key: 'liveP50Ms', label: 'p50' },
        { key: 'liveP99Ms', label: 'p99' },
      ],
    },
  ],
  columns: [
    { heading: 'waiting', key: 'x' },
    { heading: 'start of the node, ms', key: 'startMs' },
    { heading: 'live/s', key: 'perSecond' },
    { heading: 'cost of a live delivery, µs', key: 'costMicros' },
    { heading: 'drained/s', key: 'drainPerSecond' },
    { heading: 'cost of a drained delivery, µs', key: 'drainCostMicros' },
    { heading: 'live beside the drain: p50, ms', key: 'liveP50Ms' },
    { heading: 'p99, ms', key: 'liveP99Ms' },
  ],
  async measure(context) {
    const { databaseUrl, x } = context
    await createRoutedEndpoints(databaseUrl, [LIVE, WAITING])
    const holdfast = new Holdfast({ databaseUrl })
    try {
      await holdfast.endpoints.pause(WAITING)
      const fillingMs = performance.now()
      await fillBacklog(databaseUrl, WAITING, EVENT_TYPE, x)
      await checkpoint(databaseUrl)
      const filledMs = performance.now() - fillingMs
      const size = await storedBytes(databaseUrl, x)
      const startingMs = performance.now()
      const nodes = await startNodes(1, { databaseUrl })
      const startMs = performance.now() - startingMs
      const live = await measureTraffic(context, nodes, { tenants: [LIVE] })
      const drained = await measureDrain(context, nodes, () => holdfast.endpoints.resume(WAITING))
      const { settled = 0, published = 0, ...shown } = drained.values
      await stopAndCount(databaseUrl, nodes, x + published - settled)
      return {
        values: { ...live.values, ...shown, ...(x > 0 && size), filledMs, startMs },
        statements: [
          ...live.statements,
          ...drained.statements.map((statement) => ({ ...statement, text: `draining: ${statement.text}` })),
        ],
      }
    } finally {
      await holdfast.stop()
    }
  },
}

/** Drains for the length of a window, or until nothing waits, while single events are published to the other endpoint. */
async function measureDrain(
  { databaseUrl, windowMs, x }: PointContext,
  nodes: readonly GrowthNode[],
  release: () => Promise<unknown>,
): Promise<Measured> {
  const publisher = await Publisher.open(databaseUrl, { tenants: [LIVE] })
  const meter = new Meter(databaseUrl, nodes, publisher)
  const over = new AbortController()
  try {
    await meter.open()
    await Promise.all(nodes.map((node) => node.takeLatencies()))
    const settledBefore = settledBy(nodes)
    const probing = probeUntil(over.signal, publisher)
    await meter.start()
    await release()
    const endMs = performance.now() + windowMs
    // With nothing to drain, the probes are measured for the whole window.
    const drainedAt = x === 0 ? Number.POSITIVE_INFINITY : settledBefore + x
    while (performance.now() < endMs && settledBy(nodes) < drainedAt) await sleep(POLL_MS)
    const { values, statements } = await meter.stop()
    // A short drain gives too few probes; probes after its end would measure another situation.
    over.abort()
    await probing
    const latenciesMs = (await Promise.all(nodes.map((node) => node.takeLatencies()))).flat()
    for (const node of nodes) await node.stop()
    return {
      values: {
        settled: settledBy(nodes) - settledBefore,
        published: publisher.published,
        ...(x > 0 && {
          drainPerSecond: values['perSecond'] ?? Number.NaN,
          drainCostMicros: values['costMicros'] ?? Number.NaN,
          drainNodeMicros: values['nodeMicros'] ?? Number.NaN,
          drainDatabaseMicros: values['deliveringMicros'] ?? Number.NaN,
          drainSeconds: values['seconds'] ?? Number.NaN,
          drainWalBytes: values['walBytes'] ?? Number.NaN,
        }),
        liveP50Ms: percentile(latenciesMs, 0.5),
        liveP99Ms: percentile(latenciesMs, 0.99),
        probes: latenciesMs.length,
      },
      statements,
    }
  } finally {
    over.abort()
    await meter.close()
    await publisher.close()
  }
}

async function probeUntil(signal: AbortSignal, publisher: Publisher): Promise<void> {
  while (!signal.aborted) {
    const nextMs = performance.now() + PROBE_EVERY_MS
    await publisher.probe()
    await sleep(Math.max(0, nextMs - performance.now()))
  }
}
