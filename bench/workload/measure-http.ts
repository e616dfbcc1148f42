import { randomBytes } from 'node:crypto'
import { Agent, request } from 'undici'
import { Holdfast } from '../../dist/index.js'
import type { Egress } from '../../dist/network/egress.js'
import { openSocket } from '../../dist/network/open-socket.js'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { makePayloads } from './payload.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { sendPayloads } from './send-payloads.ts'
import { type Sink, startSink } from './start-sink.ts'
import { watchSettling } from './watch-settling.ts'

/** Requests in flight, for both arms: the default concurrency of an endpoint. */
export const HTTP_CONCURRENCY = 64

const ENDPOINT = 'sink'
/** Endpoints sign by default, and their secrets need an encryption key. */
const BENCH_KEY = randomBytes(32).toString('base64')

/** HTTP requests answered per second by a sink in another process. */
export async function measureHttp(context: SampleContext): Promise<Sample> {
  return withSink(context, (sink) =>
    context.arm === SUBJECT ? sendByHoldfast(context, sink, {}) : sendByUndici(context, sink),
  )
}

/** Sockets without the network guard. */
const unguarded: Egress = {
  openSocket,
  openTcp: (hostname, port) => openSocket({ protocol: 'http:', hostname, port }),
  refusalOfTcp: () => null,
  absoluteForm: null,
  refusalOf: () => null,
}

/** The same: signed and through the network guard, and without both. */
export async function measureSigning(context: SampleContext): Promise<Sample> {
  return withSink(context, (sink) =>
    context.arm === SUBJECT
      ? sendByHoldfast(context, sink, {})
      : sendByHoldfast(context, sink, { signing: { scheme: 'none' } }, unguarded),
  )
}

async function withSink(context: SampleContext, send: (sink: Sink) => Promise<Sample>): Promise<Sample> {
  const sink = await startSink()
  try {
    const sample = await send(sink)
    const received = await sink.received()
    if (received < context.httpMessages)
      throw new Error(`the sink saw ${received} of ${context.httpMessages}`)
    return { ...sample, details: { ...sample.details, received } }
  } finally {
    await sink.stop()
  }
}

/** Drains a full queue; measured from a tenth committed to everything committed. Each attempt is recorded. */
async function sendByHoldfast(
  context: SampleContext,
  sink: Sink,
  config: object,
  egress?: Egress,
): Promise<Sample> {
  const { databaseUrl, httpMessages, overrides } = context
  const concurrency = overrides.concurrency ?? HTTP_CONCURRENCY
  const watch = watchSettling()
  const holdfast = new Holdfast(
    { databaseUrl, observer: watch.observer, allowNetworks: ['127.0.0.0/8'], encryptionKey: BENCH_KEY },
    egress,
  )
  try {
    await holdfast.migrate()
    await holdfast.endpoints.create({
      name: ENDPOINT,
      transport: 'http',
      config: { url: sink.url, ...config },
      limits: { concurrency, maxPending: 10_000_000 },
    })
    await sendPayloads(holdfast, ENDPOINT, httpMessages)
    await refreshStatistics(databaseUrl)
    const warmUp = httpMessages / 10
    const [started, ended] = [watch.whenSettled(warmUp), watch.whenSettled(httpMessages)]
    await holdfast.start()
    const elapsedMs = (await ended) - (await started)
    return {
      value: ((httpMessages - warmUp) / elapsedMs) * 1000,
      details: { messages: httpMessages, elapsedMs },
      settings: { concurrency },
    }
  } finally {
    await holdfast.stop()
  }
}

/** The ceiling: 64 loops over keep-alive connections that only send a body and discard the response. */
async function sendByUndici(context: SampleContext, sink: Sink): Promise<Sample> {
  const dispatcher = new Agent({ connections: HTTP_CONCURRENCY, pipelining: 1 })
  const payloads = makePayloads(context.httpMessages)
  const warmUp = payloads.length / 10
  const headers = { 'content-type': 'application/json' }
  let next = 0
  let startedMs = 0
  const loop = async () => {
    for (let payload = payloads[next++]; payload !== undefined; payload = payloads[next++]) {
      if (next === warmUp) startedMs = performance.now()
      const response = await request(sink.url, {
        dispatcher,
        method: 'POST',
        headers,
        body: JSON.stringify(payload),
      })
      await response.body.dump()
      if (response.statusCode !== 200) throw new Error(`the sink answered ${response.statusCode}`)
    }
  }
  await Promise.all(Array.from({ length: HTTP_CONCURRENCY }, loop))
  const elapsedMs = performance.now() - startedMs
  await dispatcher.close()
  return {
    value: ((payloads.length - warmUp) / elapsedMs) * 1000,
    details: { messages: payloads.length, elapsedMs },
    settings: { concurrency: HTTP_CONCURRENCY, pipelining: 1 },
  }
}
