import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import { forEachConcurrently } from '../contenders/contender.ts'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { createEndpoints } from './endpoints.ts'
import { inBatches, makePayload } from './payload.ts'

const TENANTS = 10_000
const BATCH_EVENTS = 500
const CONNECTIONS = 2

/** Events published per second, each to the only route of its tenant; for the other arm all events have one tenant. */
export async function measureTenants(context: SampleContext): Promise<Sample> {
  const { databaseUrl, messages } = context
  const tenants = context.arm === SUBJECT ? TENANTS : 1
  const events = messages / 2
  const holdfast = new Holdfast({ databaseUrl })
  try {
    await holdfast.migrate()
    await createEndpoints(holdfast, ['shared'])
    await createRoutes(databaseUrl, tenants)
    await publish(holdfast, events / 10, tenants)
    const startedMs = performance.now()
    await publish(holdfast, events, tenants)
    const elapsedMs = performance.now() - startedMs
    return {
      value: (events / elapsedMs) * 1000,
      details: { events, elapsedMs },
      settings: { tenants, batchEvents: BATCH_EVENTS },
    }
  } finally {
    await holdfast.stop()
  }
}

/** One statement: only publishing is measured. */
async function createRoutes(databaseUrl: string, tenants: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(
      `insert into holdfast_internal.routes (name, tenant, event_type, exact_type, lane_id)
       select 'tenant-' || number, 'tenant-' || number, 'order.created', 'order.created', endpoint.id
       from generate_series(0, $1::int - 1) as number, holdfast_internal.endpoints as endpoint`,
      [tenants],
    )
    await client.query('analyze holdfast_internal.routes')
  } finally {
    await client.end()
  }
}

async function publish(holdfast: Holdfast, count: number, tenants: number): Promise<void> {
  const events = Array.from({ length: count }, (_, sequence) => ({
    type: 'order.created',
    tenant: `tenant-${sequence % tenants}`,
    payload: makePayload(sequence),
  }))
  await forEachConcurrently(inBatches(events, BATCH_EVENTS), CONNECTIONS, async (batch) => {
    const published = await holdfast.publishBatch(batch)
    if (published.some(({ deliveries }) => deliveries !== 1)) throw new Error('an event missed its route')
  })
}
