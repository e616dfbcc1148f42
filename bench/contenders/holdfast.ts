import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import { inBatches, type Payload } from '../workload/payload.ts'
import { type Contender, forEachConcurrently, type Handler, type Purpose } from './contender.ts'

const ENDPOINT = 'bench'

/**
 * Tried on 2 cores that other work used too, PostgreSQL 18, 100,000 messages (k/s, lowest–highest):
 * - enqueue with `sendBatch`, six passes: 2 × 1,000 rows 93–168 (taken), 3 × 1,000 85–134; three passes: 4 × 1,000 104–164,
 *   3 × 500 138–144, 3 × 2,000 136–145, 2 × 2,000 83–105, 2 × 5,000 139–151, 3 × 5,000 66–109; six passes: 4 × 2,000
 *   103–156. The spread of the machine is wider than what sets these apart, but for the largest batches.
 * - process, six passes: concurrency 64 (the default, taken) 52–83, 256 47–82, 1,000 56–63; 16, three passes, 56–67.
 * All other settings are defaults, except that the limit on pending messages is raised.
 */
const BEST: Record<Purpose, Record<string, number>> = {
  throughput: { enqueueBatchRows: 1000, enqueueConnections: 2, concurrency: 64 },
  latency: { enqueueBatchRows: 1, enqueueConnections: 8, concurrency: 64 },
}

export const holdfast: Contender = {
  name: 'holdfast',
  async open(context, purpose) {
    const settings = { ...BEST[purpose], ...context.overrides } as Record<string, number>
    const { enqueueBatchRows = 1, enqueueConnections = 1, concurrency = 64 } = settings
    let handle: Handler = () => {}
    const holdfast = new Holdfast({
      databaseUrl: context.databaseUrl,
      keepsStatistics: settings['keepsStatistics'] !== 0,
      handlers: { [ENDPOINT]: (message) => handle(message.payload as Payload) },
    })
    await holdfast.migrate()
    await holdfast.endpoints.create({
      name: ENDPOINT,
      transport: 'function',
      limits: { concurrency, maxPending: 10_000_000 },
    })
    const publisher =
      settings['usesSecondClient'] === 1 ? new Holdfast({ databaseUrl: context.databaseUrl }) : holdfast
    const client = new Client({ connectionString: context.databaseUrl })
    // An error of an idle connection shows at the next statement.
    client.on('error', () => {})
    await client.connect()
    return {
      settings,
      enqueueAll(payloads, { deliverAt, orderingKey, priority } = {}) {
        return forEachConcurrently(
          inBatches(payloads, enqueueBatchRows),
          enqueueConnections,
          async (batch) => {
            await holdfast.sendBatch(
              ENDPOINT,
              batch.map((payload) => ({
                payload,
                ...(deliverAt !== undefined && { deliverAt }),
                ...(orderingKey !== undefined && { orderingKey: orderingKey(payload.sequence) }),
                ...(priority !== undefined && { priority: priority(payload.sequence) }),
              })),
            )
          },
        )
      },
      async enqueueOne(payload) {
        await publisher.send(ENDPOINT, payload)
      },
      async startWorkers(handler) {
        handle = handler
        await holdfast.start()
      },
      async isDrained() {
        const result = await client.query<{ drained: boolean }>(
          'select not exists (select from holdfast_internal.deliveries) as drained',
        )
        return result.rows[0]?.drained === true
      },
      async close() {
        await holdfast.stop()
        if (publisher !== holdfast) await publisher.stop()
        await client.end()
      },
    }
  },
}
