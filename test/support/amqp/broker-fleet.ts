import { randomBytes } from 'node:crypto'
import { Holdfast } from '../../../src/index.ts'
import { JobWorker } from '../../../src/jobs/worker.ts'
import type { WorkerOptions } from '../../../src/jobs/worker-options.ts'
import { until } from '../engine/until.ts'
import { createTestDatabase, type TestDatabase } from '../test-database.ts'
import { brokerUrl } from './broker.ts'
import { removeTopology } from './remove-topology.ts'

/** A node in broker mode on a database of its own, with names of its own on the broker, and workers that know the broker only. */
export class BrokerFleet {
  readonly database: TestDatabase
  readonly holdfast: Holdfast
  readonly prefix: string
  readonly amqpUrl: string
  readonly complaints: string[] = []
  readonly #workers: JobWorker[] = []

  private constructor(database: TestDatabase, holdfast: Holdfast, prefix: string, amqpUrl: string) {
    this.database = database
    this.holdfast = holdfast
    this.prefix = prefix
    this.amqpUrl = amqpUrl
  }

  static async create(amqpUrl: string = brokerUrl ?? ''): Promise<BrokerFleet> {
    const database = await createTestDatabase()
    const prefix = `holdfast-test-${randomBytes(6).toString('hex')}`
    const holdfast = new Holdfast({
      databaseUrl: database.url,
      broker: { url: amqpUrl, topology: { prefix } },
    })
    await holdfast.start()
    return new BrokerFleet(database, holdfast, prefix, amqpUrl)
  }

  async work(options: Partial<WorkerOptions> & Pick<WorkerOptions, 'jobs'>): Promise<JobWorker> {
    const note = (details: object, message: string) =>
      this.complaints.push(`${message} ${JSON.stringify(details)}`)
    const worker = new JobWorker({
      amqpUrl: this.amqpUrl,
      amqpPrefix: this.prefix,
      journalFolder: null,
      logger: { debug() {}, info() {}, warn: note, error: note },
      ...options,
    })
    this.#workers.push(worker)
    await worker.start()
    return worker
  }

  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.database.pool.query(text, [...values])).rows as Row[]
  }

  /** Resolves when no run is owed any more. */
  async whenDone(timeoutMs = 120_000): Promise<void> {
    await until(
      'all runs to end',
      async () => (await this.rows('select from holdfast_internal.owed_runs')).length,
      (owed) => owed === 0,
      timeoutMs,
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()))
    await this.holdfast.stop()
    await removeTopology(this.amqpUrl, this.prefix, this.database.url)
    await this.database.drop()
  }
}
