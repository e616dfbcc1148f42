import { Holdfast } from '../../dist/index.js'
import { forEachConcurrently } from '../contenders/contender.ts'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { createEndpoints, endpointNames } from './endpoints.ts'
import { inBatches, makePayload } from './payload.ts'
import { sendPayloads } from './send-payloads.ts'

const ROUTES = 100
const MATCHING = 10
const EVENT_TYPES = ROUTES / MATCHING
const CONNECTIONS = 2

/** Deliveries stored per second: for the subject by events that match ten of a hundred routes, for the other arm by single sends. */
export async function measureFanOut(context: SampleContext): Promise<Sample> {
  const { databaseUrl, messages, overrides } = context
  const batchEvents = overrides.batchEvents ?? 500
  const holdfast = new Holdfast({ databaseUrl })
  try {
    await holdfast.migrate()
    const names = endpointNames(MATCHING)
    await createEndpoints(holdfast, names)
    await createRoutes(holdfast, names)
    const store = (deliveries: number) =>
      context.arm === SUBJECT
        ? publish(holdfast, deliveries / MATCHING, batchEvents)
        : sendPayloads(holdfast, names[0] ?? '', deliveries)
    await store(messages / 10)
    const startedMs = performance.now()
    await store(messages)
    const elapsedMs = performance.now() - startedMs
    return {
      value: (messages / elapsedMs) * 1000,
      details: { deliveries: messages, elapsedMs },
      settings: context.arm === SUBJECT ? { routes: ROUTES, matching: MATCHING, batchEvents } : {},
    }
  } finally {
    await holdfast.stop()
  }
}

async function createRoutes(holdfast: Holdfast, endpoints: readonly string[]): Promise<void> {
  for (let kind = 0; kind < EVENT_TYPES; kind++) {
    for (const endpoint of endpoints) {
      await holdfast.routes.create({
        name: `kind-${kind}-to-${endpoint}`,
        eventType: `order.kind${kind}`,
        endpoint,
      })
    }
  }
}

async function publish(holdfast: Holdfast, count: number, batchEvents: number): Promise<void> {
  const events = Array.from({ length: count }, (_, sequence) => ({
    type: `order.kind${sequence % EVENT_TYPES}`,
    payload: makePayload(sequence),
  }))
  await forEachConcurrently(inBatches(events, batchEvents), CONNECTIONS, async (batch) => {
    const published = await holdfast.publishBatch(batch)
    if (published.some(({ deliveries }) => deliveries !== MATCHING))
      throw new Error('an event missed a route')
  })
}
