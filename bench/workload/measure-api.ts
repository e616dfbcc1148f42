import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Authenticator } from '../../dist/api/access/authenticator.js'
import { ApiServer } from '../../dist/api/api-server.js'
import { Holdfast } from '../../dist/index.js'
import { forEachConcurrently } from '../contenders/contender.ts'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { createEndpoints } from './endpoints.ts'
import { inBatches, makePayload } from './payload.ts'

export const ONE_INSERT_PER_REQUEST = 'one-insert-per-request'
export const SDK_BATCHES = 'sdk-batches'

const CONNECTIONS = 64
const BATCH_EVENTS = 500
const BATCH_CONNECTIONS = 4
/** The same for both arms: limits the concurrent inserts of the arm with one insert per request. */
const POOL_CONNECTIONS = 16

/** Events committed per second, published one per call over 64 connections. */
export async function measureApiPublish(context: SampleContext): Promise<Sample> {
  const isGrouped = context.arm === SUBJECT
  const poolConnections = context.overrides['poolConnections'] ?? POOL_CONNECTIONS
  const holdfast = new Holdfast({
    databaseUrl: context.databaseUrl,
    maxConnections: poolConnections,
    ...(!isGrouped && { publishLine: { maxBatchEvents: 1, maxBatchesInFlight: poolConnections } }),
  })
  const events = isGrouped ? context.messages / 2 : context.messages / 10
  const bodies = makeEvents(events * 1.1).map((event) => JSON.stringify(event))
  return measureLoad(context, holdfast, {
    path: '/v1/events',
    bodies,
    events,
    connections: CONNECTIONS,
    settings: { connections: CONNECTIONS, poolConnections },
  })
}

/** Events committed per second, published in batches of 500 over four connections; the other arm calls the SDK. */
export async function measureApiBatch(context: SampleContext): Promise<Sample> {
  const holdfast = new Holdfast({ databaseUrl: context.databaseUrl })
  const batches = inBatches(makeEvents(context.messages), BATCH_EVENTS)
  const settings = { batchEvents: BATCH_EVENTS, connections: BATCH_CONNECTIONS }
  const warmUp = Math.ceil(batches.length / 10)
  const events = (batches.length - warmUp) * BATCH_EVENTS
  if (context.arm === SUBJECT) {
    const bodies = batches.map((batch) => JSON.stringify({ events: batch }))
    return measureLoad(context, holdfast, {
      path: '/v1/events/batch',
      bodies,
      events,
      connections: BATCH_CONNECTIONS,
      settings,
    })
  }
  try {
    await prepare(holdfast)
    const publish = async (batch: ReturnType<typeof makeEvents>) => {
      await holdfast.publishBatch(batch)
    }
    await forEachConcurrently(batches.slice(0, warmUp), BATCH_CONNECTIONS, publish)
    const startedMs = performance.now()
    await forEachConcurrently(batches.slice(warmUp), BATCH_CONNECTIONS, publish)
    return toSample(events, performance.now() - startedMs, settings)
  } finally {
    await holdfast.stop()
  }
}

interface Load {
  path: string
  bodies: string[]
  /** Number of timed events; the others are the warm-up. */
  events: number
  connections: number
  settings: Record<string, number>
}

async function measureLoad(_context: SampleContext, holdfast: Holdfast, load: Load): Promise<Sample> {
  const key = 'hf_bench'
  const database = () => holdfast.database
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const server = new ApiServer({
    holdfast,
    database,
    authenticator: new Authenticator({ database, adminKey: key }),
    logger: silent,
    host: '127.0.0.1',
    port: 0,
  })
  try {
    await prepare(holdfast)
    await server.start()
    const elapsedMs = await runLoad(server.url, key, load)
    return toSample(load.events, elapsedMs, load.settings)
  } finally {
    await server.stop()
    await holdfast.stop()
  }
}

function runLoad(url: string, key: string, { path, bodies, events, connections }: Load): Promise<number> {
  const warmUp = path.endsWith('/batch') ? bodies.length - events / BATCH_EVENTS : bodies.length - events
  const child = fork(fileURLToPath(new URL('./http-load-process.mjs', import.meta.url)), { execArgv: [] })
  return new Promise((resolve, reject) => {
    child.once('message', (answer: { elapsedMs?: number; error?: string }) => {
      if (answer.elapsedMs === undefined) reject(new Error(answer.error))
      else resolve(answer.elapsedMs)
    })
    child.once('exit', () => reject(new Error('the load ended without a result')))
    child.send({ url, key, path, bodies, warmUp, connections })
  })
}

async function prepare(holdfast: Holdfast): Promise<void> {
  await holdfast.migrate()
  await createEndpoints(holdfast, ['bench'])
  await holdfast.routes.create({ name: 'bench', eventType: 'order.created', endpoint: 'bench' })
}

function makeEvents(count: number) {
  return Array.from({ length: count }, (_, sequence) => ({
    type: 'order.created',
    payload: makePayload(sequence),
  }))
}

function toSample(events: number, elapsedMs: number, settings: Record<string, number>): Sample {
  return { value: (events / elapsedMs) * 1000, details: { events, elapsedMs }, settings }
}
