import { Pool } from 'pg'
import { inBatches } from '../workload/payload.ts'
import { type Contender, forEachConcurrently, type Handler, type Purpose } from './contender.ts'

const BEST: Record<Purpose, Record<string, number>> = {
  throughput: { enqueueBatchRows: 1000, enqueueConnections: 2 },
  latency: { enqueueBatchRows: 1, enqueueConnections: 1 },
}

/**
 * No queue at all: each message is one durable insert into a table with a primary key, which returns its id. No queue that stores messages in
 * PostgreSQL can be faster, so this shows how much of a contender's time is the commit. Its "handler" is called when the insert has returned.
 */
export const bareTable: Contender = {
  name: 'bare-table',
  async open(context, purpose) {
    const settings = { ...BEST[purpose], ...context.overrides } as Record<string, number>
    const { enqueueBatchRows = 1, enqueueConnections = 1 } = settings
    const pool = new Pool({ connectionString: context.databaseUrl, max: enqueueConnections })
    // An error of an idle connection shows at the next statement.
    pool.on('error', () => {})
    await pool.query(
      'create table bare (id bigint generated always as identity primary key, body json not null)',
    )
    let handle: Handler = () => {}
    const insert = (bodies: readonly string[]) =>
      pool.query({
        name: 'insert',
        text: `insert into bare (body) select line::json from string_to_table($1, E'\\n') as line returning id`,
        values: [bodies.join('\n')],
        rowMode: 'array',
      })
    return {
      settings,
      enqueueAll(payloads) {
        return forEachConcurrently(
          inBatches(payloads, enqueueBatchRows),
          enqueueConnections,
          async (batch) => {
            await insert(batch.map((payload) => JSON.stringify(payload)))
          },
        )
      },
      async enqueueOne(payload) {
        await insert([JSON.stringify(payload)])
        handle(payload)
      },
      startWorkers(handler) {
        handle = handler
        return Promise.resolve()
      },
      isDrained: () => Promise.resolve(true),
      close: () => pool.end(),
    }
  },
}
