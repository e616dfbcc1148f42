import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import { inBatches, type Payload } from '../workload/payload.ts'
import { type Contender, forEachConcurrently, type Handler, type Purpose } from './contender.ts'

const ENDPOINT = 'bench'

const BEST: Record<Purpose, Record<string, number>> = {
  throughput: { enqueueBatchRows: 1000, enqueueConnections: 3, concurrency: 64 },
  latency: { enqueueBatchRows: 1, enqueueConnections: 1, concurrency: 64 },
}

export const holdfast: Contender = {
  name: 'holdfast',
  async open(context, purpose) {
    const settings = { ...BEST[purpose], ...context.overrides } as Record<string, number>
    const { enqueueBatchRows = 1, enqueueConnections = 1, concurrency = 64 } = settings
    let handle: Handler = () => {}
    const holdfast = new Holdfast({
      databaseUrl: context.databaseUrl,
      handlers: { [ENDPOINT]: (message) => handle(message.payload as Payload) },
    })
    await holdfast.migrate()
    await holdfast.endpoints.create({
      name: ENDPOINT,
      transport: 'function',
      limits: { concurrency, maxPending: 10_000_000 },
    })
    const client = new Client({ connectionString: context.databaseUrl })
    await client.connect()
    return {
      settings,
      enqueueAll(payloads) {
        return forEachConcurrently(
          inBatches(payloads, enqueueBatchRows),
          enqueueConnections,
          async (batch) => {
            await holdfast.sendBatch(
              ENDPOINT,
              batch.map((payload) => ({ payload })),
            )
          },
        )
      },
      async enqueueOne(payload) {
        await holdfast.send(ENDPOINT, payload)
      },
      async startWorkers(handler) {
        handle = handler
        await holdfast.start()
      },
      async isDrained() {
        const result = await client.query<{ drained: boolean }>(
          'select not exists (select from holdfast.deliveries) as drained',
        )
        return result.rows[0]?.drained === true
      },
      async close() {
        await holdfast.stop()
        await client.end()
      },
    }
  },
}
