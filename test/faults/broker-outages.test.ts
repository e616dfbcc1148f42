import { randomBytes } from 'node:crypto'
import { connect } from 'amqplib'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob, type Holdfast } from '../../src/index.ts'
import { JobWorker } from '../../src/jobs/worker.ts'
import { hasOwnBroker, OwnBroker } from '../support/amqp/own-broker.ts'
import { Rig, type RunningNode } from '../support/engine/rig.ts'
import { until } from '../support/engine/until.ts'

/** How often the broker is killed: HOLDFAST_FAULTS=full takes minutes. */
const kills = process.env['HOLDFAST_FAULTS'] === 'full' ? 20 : 2
const loadMs = 20
/** A broker of 3.10 needs some seconds to start on an idle machine. */
const timeoutMs = 240_000 + kills * 60_000

const input = z.object({ n: z.number() })

/** Everything that uses a broker, on one broker: runs over it, an endpoint that publishes to a queue, and a source that reads that queue. */
class Installation {
  readonly rig: Rig
  readonly node: RunningNode
  /** Numbers of the runs that were executed. */
  readonly ran: readonly number[]
  /** What the names on the broker begin with. */
  readonly prefix: string
  readonly #worker: JobWorker
  readonly #client: Holdfast
  #sent = 0

  private constructor(
    rig: Rig,
    node: RunningNode,
    client: Holdfast,
    worker: JobWorker,
    prefix: string,
    ran: readonly number[],
  ) {
    this.rig = rig
    this.node = node
    this.#client = client
    this.#worker = worker
    this.prefix = prefix
    this.ran = ran
  }

  static async start(brokers: readonly OwnBroker[]): Promise<Installation> {
    const url = `amqp://guest:guest@${brokers.map(({ host }) => host).join()}`
    const rig = await Rig.create()
    const client = rig.client()
    const queue = 'orders'
    await withChannel(brokers[0]?.url ?? '', (channel) =>
      channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } }),
    )
    await client.endpoints.create({
      name: 'rabbit',
      transport: 'amqp',
      config: { url, exchange: '', routingKey: queue, timeoutMs: 5000 },
      eventTypes: ['order.created'],
      retry: { strategy: 'fixed', baseDelayMs: 200, maxRetries: 1000, jitter: 'none' },
      circuit: { threshold: 3, cooldownMs: 1000 },
    })
    await client.sources.create({
      name: 'orders',
      type: 'amqp',
      config: { url, queue, eventType: 'order.received' },
    })
    const prefix = `hf-test-${randomBytes(6).toString('hex')}`
    const node = await rig.start({ broker: { url, topology: { prefix } } })
    const ran: number[] = []
    const run = async ({ n }: { n: number }) => {
      ran.push(n)
    }
    const worker = new JobWorker({
      amqpUrl: url,
      amqpPrefix: prefix,
      journalFolder: null,
      name: 'press',
      concurrency: 4,
      jobs: [defineJob({ name: 'work', queue: 'work', input, run })],
    })
    await worker.start()
    return new Installation(rig, node, client, worker, prefix, ran)
  }

  /** One run and one event. */
  async send(): Promise<void> {
    const n = this.#sent++
    await this.#client.enqueue('work', { n })
    await this.#client.publish('order.created', { n })
  }

  /** Sends until it is told to stop. */
  load(): () => Promise<void> {
    const over = new AbortController()
    const sending = (async () => {
      while (!over.signal.aborted) {
        await this.send()
        await new Promise((resolve) => setTimeout(resolve, loadMs))
      }
    })()
    return async () => {
      over.abort()
      await sending
    }
  }

  /** Resolves when so many more runs were executed. */
  async whenRan(more: number): Promise<void> {
    const before = this.ran.length
    await until(
      'runs to be executed',
      () => this.ran.length,
      (count) => count > before + more,
      120_000,
    )
  }

  /** Waits for the rest; then every run has succeeded once, and every event has come back through the broker once. */
  async expectAll(): Promise<void> {
    const numbers = Array.from({ length: this.#sent }, (_, n) => n)
    const succeeded = await until(
      'all runs to succeed',
      () =>
        this.rig.rows<{ n: number }>(
          `select (message.body ->> 'n')::int as n from holdfast_internal.attempts as tried
           join holdfast_internal.messages as message on message.id = tried.message_id
           where tried.outcome = 1 and message.type = 'work' order by 1`,
        ),
      (rows) => rows.length >= numbers.length,
      120_000,
    )
    expect(succeeded.map(({ n }) => n)).toEqual(numbers)
    const received = await until(
      'all events to return',
      () =>
        this.rig.rows<{ n: number }>(
          `select (body ->> 'n')::int as n from holdfast_internal.messages where type = 'order.received' order by 1`,
        ),
      (rows) => rows.length >= numbers.length,
      120_000,
    )
    expect(received.map(({ n }) => n)).toEqual(numbers)
    expect(await this.rig.count('owed_runs')).toBe(0)
    expect(await this.rig.count('dead_letters')).toBe(0)
  }

  /** What the node says of its connection. */
  async state(): Promise<string> {
    return this.rig.value<string>(
      `select coalesce(max(report ->> 'state'), 'none') from holdfast_internal.broker_reports`,
    )
  }

  get sent(): number {
    return this.#sent
  }

  async stop(): Promise<void> {
    await this.#worker.stop()
    await this.rig.stop()
  }
}

async function withChannel(
  url: string,
  work: (
    channel: Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['createChannel']>>,
  ) => Promise<unknown>,
): Promise<void> {
  const connection = await connect(url)
  await work(await connection.createChannel())
  await connection.close()
}

describe.skipIf(!hasOwnBroker)('a broker of its own', { timeout: timeoutMs }, () => {
  const ends: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  }, 60_000)

  test(`that is killed ${kills} times under load, or short of memory and disk, costs nothing: every run succeeds once, every event arrives once`, async () => {
    const broker = await OwnBroker.create()
    ends.push(() => broker.stop())
    const whole = await Installation.start([broker])
    ends.push(() => whole.stop())
    const stopLoad = whole.load()
    for (let kill = 0; kill < kills; kill++) {
      await whole.whenRan(10)
      await broker.kill()
      await until(
        'the loss to be seen',
        () => whole.state(),
        (state) => state === 'disconnected',
      )
      await broker.start()
    }
    await stopLoad()
    await whole.expectAll()
    // biome-ignore lint/suspicious/noConsole: the figure is what this test is run for.
    console.info(
      `${kills} kills: ${whole.sent} runs and events, ${whole.ran.length - whole.sent} runs executed twice`,
    )

    for (const [alarm, end] of [
      [
        ['set_vm_memory_high_watermark', '0.0000001'],
        ['set_vm_memory_high_watermark', '0.4'],
      ],
      [
        ['set_disk_free_limit', '900000GB'],
        ['set_disk_free_limit', '1MB'],
      ],
    ] as const) {
      await broker.control(...alarm)
      await until(
        'the broker to block',
        async () => {
          await whole.send()
          return whole.state()
        },
        (state) => state === 'blocked',
      )
      expect(whole.node.complaints.some((text) => text.startsWith('The broker accepts no messages'))).toBe(
        true,
      )
      for (let n = 0; n < 5; n++) await whole.send()
      expect(await whole.rig.count('owed_runs')).toBeGreaterThanOrEqual(5)
      await broker.control(...end)
      await whole.expectAll()
    }
  })

  test('that is one of three and is killed under load costs nothing either, whichever of them it is', async () => {
    const brokers = await OwnBroker.createCluster(3)
    for (const broker of brokers) ends.push(() => broker.stop())
    const whole = await Installation.start(brokers)
    ends.push(() => whole.stop())
    const stopLoad = whole.load()
    for (const broker of brokers) {
      await whole.whenRan(10)
      await broker.kill()
      await whole.whenRan(10)
      await broker.start()
    }
    await stopLoad()
    await whole.expectAll()
  })

  test('whose queue of one worker has lost its leader goes on with the others, and the queue is replaced', async () => {
    const broker = await OwnBroker.create()
    ends.push(() => broker.stop())
    const whole = await Installation.start([broker])
    ends.push(() => whole.stop())
    const queue = `${whole.prefix}.worker.press`
    // It stays, and answers nobody: as a quorum queue does that the broker forgot when it was killed.
    await broker.control('eval', `sys:suspend('%2F_${queue}').`)
    await broker.control('close_all_connections', 'test')
    await whole.send()
    await whole.expectAll()
    await until(
      'the queue to be replaced',
      () => whole.node.complaints.some((text) => text.startsWith('The broker has no leader for a queue')),
      Boolean,
      60_000,
    )
    await until(
      'the queue to be consumed again',
      () => consumersOf(broker, queue),
      (consumers) => consumers === '1',
      60_000,
    )
    await whole.send()
    await whole.expectAll()
  })
})

async function consumersOf(broker: OwnBroker, queue: string): Promise<string | undefined> {
  const lines = (await broker.control('list_queues', 'name', 'consumers')).split('\n')
  return lines.map((line) => line.split('\t')).find(([name]) => name === queue)?.[1]
}
