import { randomBytes } from 'node:crypto'
import { type Channel, connect } from 'amqplib'
import type { HoldfastOptions } from '../../../src/sdk/holdfast-options.ts'
import { until } from '../engine/until.ts'
import { JobsRig } from '../jobs-rig.ts'
import { brokerUrl } from './broker.ts'
import { HandWorker } from './hand-worker.ts'

/** A database, names of its own on a broker, and nodes and workers that use both. */
export class BrokerRig {
  readonly jobs: JobsRig
  readonly prefix: string
  readonly url: string
  readonly #workers: HandWorker[] = []

  private constructor(jobs: JobsRig, prefix: string, url: string) {
    this.jobs = jobs
    this.prefix = prefix
    this.url = url
  }

  static async create(url: string = brokerUrl ?? ''): Promise<BrokerRig> {
    const prefix = `hf-test-${randomBytes(6).toString('hex')}`
    return new BrokerRig(await JobsRig.create(), prefix, url.replace('//', '//guest:guest@'))
  }

  get rig() {
    return this.jobs.rig
  }

  /** A node that has declared its topology. */
  async node(options: Partial<HoldfastOptions> = {}, url = this.url) {
    const node = await this.unready(options, url)
    await until(
      'the topology',
      () => this.depth(`${this.prefix}.dlx.queue`).catch(() => null),
      (depth) => depth !== null,
    )
    return node
  }

  /** A node that may not be connected yet. */
  unready(options: Partial<HoldfastOptions> = {}, url = this.url) {
    return this.rig.start({ broker: { url, topology: { prefix: this.prefix } }, ...options })
  }

  async worker(name: string, jobs: readonly string[], concurrency = 2): Promise<HandWorker> {
    const worker = await HandWorker.join({ url: this.url, prefix: this.prefix, name, jobs, concurrency })
    this.#workers.push(worker)
    return worker
  }

  async withChannel<Result>(work: (channel: Channel) => Promise<Result>): Promise<Result> {
    const connection = await connect(this.url)
    try {
      const channel = await connection.createChannel()
      // Who called is told by a rejection.
      channel.on('error', () => {})
      return await work(channel)
    } finally {
      await connection.close()
    }
  }

  async depth(queue: string): Promise<number> {
    return this.withChannel(async (channel) => (await channel.checkQueue(queue)).messageCount)
  }

  async stop(): Promise<void> {
    for (const worker of this.#workers) await worker.vanish()
    const queues = await this.rig
      .rows<{ name: string }>('select name from holdfast_internal.broker_queues')
      .catch(() => [])
    await this.jobs.stop()
    const fixed = ['results.queue', 'beats.queue', 'dlx.queue'].map((name) => `${this.prefix}.${name}`)
    await this.withChannel(async (channel) => {
      for (const name of [...queues.map((queue) => queue.name), ...fixed]) await channel.deleteQueue(name)
      for (const name of ['dispatch', 'results', 'dlx'])
        await channel.deleteExchange(`${this.prefix}.${name}`)
    }).catch(() => {})
  }
}
