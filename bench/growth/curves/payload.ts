import { randomBytes } from 'node:crypto'
import { startSink } from '../../workload/start-sink.ts'
import type { Curve } from '../curve.ts'
import { settledBy } from '../growth-node.ts'
import { measureTraffic, stopAndCount } from '../measure-traffic.ts'
import { measureVacuum } from '../measure-vacuum.ts'
import { createRoutedEndpoints } from '../prepare-database.ts'
import { startNodes } from '../start-nodes.ts'
import { storedBytes } from '../stored-bytes.ts'
import { costColumns, costPanel, ratePanel } from './shown.ts'

const ENDPOINT = 'sink'

/** Signed HTTP requests to a sink in its own process, which reads the body and responds at once. */
export const payload: Curve = {
  name: 'payload',
  title: 'Larger payloads, over HTTP',
  axisLabel: 'bytes of a payload',
  formatX: (x) => (x >= 2 ** 20 ? `${x / 2 ** 20} MiB` : x >= 1000 ? `${x / 1000} kB` : `${x} B`),
  points: { full: [100, 1000, 10_000, 100_000, 2 ** 20], quick: [100, 10_000, 2 ** 20] },
  rounds: 2,
  timeoutMs: 120_000,
  panels: [
    { ...ratePanel, isLogarithmic: true },
    {
      title: 'megabytes of payload per second',
      series: [{ key: 'megabytesPerSecond', label: 'MB/s' }],
    },
    { ...costPanel, isLogarithmic: true },
  ],
  columns: [
    { heading: 'payload', key: 'x' },
    ...costColumns,
    { heading: 'MB/s', key: 'megabytesPerSecond' },
    { heading: 'archived message, bytes', key: 'messagesBytes' },
    { heading: 'its attempt, bytes', key: 'attemptsBytes' },
  ],
  async measure(context) {
    const { databaseUrl, x } = context
    const sink = await startSink()
    const encryptionKey = randomBytes(32).toString('base64')
    try {
      await createRoutedEndpoints(databaseUrl, [ENDPOINT], {
        transport: 'http',
        config: { url: sink.url },
        encryptionKey,
      })
      const nodes = await startNodes(1, { databaseUrl, encryptionKey })
      const { values, statements } = await measureTraffic(context, nodes, {
        tenants: [ENDPOINT],
        payloadBytes: x,
      })
      await stopAndCount(databaseUrl, nodes, 0)
      const delivered = settledBy(nodes)
      const received = await sink.received()
      if (received < delivered) throw new Error(`the sink saw ${received} of ${delivered}`)
      const { deliveriesBytes: _, ...archived } = await storedBytes(databaseUrl, delivered)
      return {
        values: {
          ...values,
          megabytesPerSecond: ((values['perSecond'] ?? 0) * x) / 1e6,
          ...archived,
          vacuumMicros: ((await measureVacuum(databaseUrl)) * 1000) / delivered,
        },
        statements,
      }
    } finally {
      await sink.stop()
    }
  },
}
