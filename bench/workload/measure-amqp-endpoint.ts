import { randomBytes } from 'node:crypto'
import type { ConfirmChannel } from 'amqplib'
import { Holdfast } from '../../dist/index.js'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { BROKER_URL, brokerName, connectBroker } from './bench-broker.ts'
import { makePayloads } from './payload.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { sendPayloads } from './send-payloads.ts'
import { watchSettling } from './watch-settling.ts'

/** Unconfirmed messages in flight, for both arms: the default concurrency of an endpoint. */
const WINDOW = 64
const ENDPOINT = 'rabbit'
/** A URL with a password is a secret, so the endpoint needs an encryption key. */
const BENCH_KEY = randomBytes(32).toString('base64')

/** Messages confirmed per second by a quorum queue of RabbitMQ. */
export async function measureAmqpEndpoint(context: SampleContext): Promise<Sample> {
  const connection = await connectBroker()
  const queue = brokerName()
  const channel = await connection.createConfirmChannel()
  try {
    await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
    const sample =
      context.arm === SUBJECT
        ? await sendByHoldfast(context, queue)
        : await publishBare(context, channel, queue)
    const { messageCount: received } = await channel.checkQueue(queue)
    if (received < context.httpMessages)
      throw new Error(`the queue has ${received} of ${context.httpMessages}`)
    return { ...sample, details: { ...sample.details, received } }
  } finally {
    await channel.deleteQueue(queue)
    await connection.close()
  }
}

/** Drains a full queue; measured from a tenth committed to everything committed. Each attempt is recorded. */
async function sendByHoldfast(context: SampleContext, queue: string): Promise<Sample> {
  const { databaseUrl, httpMessages, overrides } = context
  const concurrency = overrides.concurrency ?? WINDOW
  const watch = watchSettling()
  const holdfast = new Holdfast({
    databaseUrl,
    observer: watch.observer,
    allowNetworks: ['127.0.0.0/8'],
    encryptionKey: BENCH_KEY,
  })
  try {
    await holdfast.migrate()
    await holdfast.endpoints.create({
      name: ENDPOINT,
      transport: 'amqp',
      config: { url: BROKER_URL, exchange: '', routingKey: queue },
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

/** The ceiling: publishes the next message when one of the window is confirmed; persistent and mandatory, as for an endpoint. */
async function publishBare(context: SampleContext, channel: ConfirmChannel, queue: string): Promise<Sample> {
  const window = context.overrides.concurrency ?? WINDOW
  const payloads = makePayloads(context.httpMessages)
  const warmUp = payloads.length / 10
  const properties = { persistent: true, mandatory: true, contentType: 'application/json' }
  let next = 0
  let startedMs = 0
  const publish = (payload: object) =>
    new Promise<void>((resolve, reject) => {
      channel.publish('', queue, Buffer.from(JSON.stringify(payload)), properties, (error: unknown) =>
        error == null ? resolve() : reject(error),
      )
    })
  const loop = async () => {
    for (let payload = payloads[next++]; payload !== undefined; payload = payloads[next++]) {
      if (next === warmUp) startedMs = performance.now()
      await publish(payload)
    }
  }
  await Promise.all(Array.from({ length: window }, loop))
  const elapsedMs = performance.now() - startedMs
  return {
    value: ((payloads.length - warmUp) / elapsedMs) * 1000,
    details: { messages: payloads.length, elapsedMs },
    settings: { concurrency: window },
  }
}
