import { type Channel, connect, type Options } from 'amqplib'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { SourceInput } from '../../../src/sources/source-types.ts'
import { Rig } from '../engine/rig.ts'
import { until } from '../engine/until.ts'
import { brokerUrl } from './broker.ts'

/** A database, a durable queue of its own on a broker, and what a test asks about both. */
export class SourceRig {
  readonly rig: Rig
  readonly queue: string
  readonly url: string
  #client: Holdfast | null = null

  private constructor(rig: Rig, queue: string, url: string) {
    this.rig = rig
    this.queue = queue
    this.url = url
  }

  static async create(url: string = brokerUrl ?? ''): Promise<SourceRig> {
    const name = `holdfast-test-source-${process.pid}-${process.hrtime.bigint().toString(36)}`
    const whole = new SourceRig(await Rig.create(), name, url.replace('//', '//guest:guest@'))
    await whole.withChannel((channel) => channel.assertQueue(name, { durable: true }))
    return whole
  }

  source(name: string, config: Partial<SourceInput['config']> = {}): SourceInput {
    return { name, type: 'amqp', config: { url: this.url, queue: this.queue, ...config } }
  }

  /** Each confirmed by the broker. The default exchange routes by the queue's name. */
  async send(
    bodies: readonly (string | Buffer)[],
    options: (index: number) => Options.Publish = () => ({}),
    exchange = '',
    routingKey: string = this.queue,
  ): Promise<void> {
    const connection = await connect(this.url)
    const channel = await connection.createConfirmChannel()
    for (const [index, body] of bodies.entries())
      channel.publish(exchange, routingKey, Buffer.from(body), { persistent: true, ...options(index) })
    await channel.waitForConfirms()
    await connection.close()
  }

  async withChannel<Result>(work: (channel: Channel) => Promise<Result>): Promise<Result> {
    const connection = await connect(this.url)
    try {
      return await work(await connection.createChannel())
    } finally {
      await connection.close()
    }
  }

  /** Ready messages, without those that a consumer holds. */
  async ready(): Promise<number> {
    return this.withChannel(async (channel) => (await channel.checkQueue(this.queue)).messageCount)
  }

  async bodies(): Promise<string[]> {
    const rows = await this.rig.rows<{ body: string }>(
      'select body::text as body from holdfast_internal.messages order by id',
    )
    return rows.map(({ body }) => body)
  }

  async events(count: number, timeoutMs = 20_000): Promise<string[]> {
    return until(
      `${count} events`,
      () => this.bodies(),
      (bodies) => bodies.length >= count,
      timeoutMs,
    )
  }

  /** What the one live node says of the source. */
  async nodeState(name: string) {
    this.#client ??= this.rig.client()
    const { nodes } = await this.#client.sources.get(name)
    return nodes[0]
  }

  async stop(): Promise<void> {
    await this.rig.stop()
    await this.withChannel((channel) => channel.deleteQueue(this.queue)).catch(() => {})
  }
}
