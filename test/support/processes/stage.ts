import type { Pool } from 'pg'
import { type EndpointChanges, type EndpointInput, Holdfast, type SendOptions } from '../../../src/index.ts'
import { closePool, createPool } from '../../../src/postgres/pool.ts'
import { NodeProcess } from './node-process.ts'
import type { NodeSettings } from './node-settings.ts'
import { TallyReceiver } from './tally-receiver.ts'

/** Larger batches only make the publisher wait for itself. */
const publishBatch = 1000
const closeDeadlineMs = 1000

export interface ShardOwner {
  readonly incarnation: number
  readonly name: string
  readonly shards: number
}

/**
 * Everything that a fault test sets up: a receiver, a publisher, and node processes on one database. Disposing it ends all of them,
 * also after a failure.
 */
export class Stage {
  readonly databaseUrl: string
  readonly receiver: TallyReceiver
  readonly publisher: Holdfast
  readonly pool: Pool
  readonly nodes: NodeProcess[] = []

  private constructor(databaseUrl: string, receiver: TallyReceiver) {
    this.databaseUrl = databaseUrl
    this.receiver = receiver
    this.publisher = new Holdfast({ databaseUrl, maxConnections: 4, allowNetworks: ['127.0.0.0/8'] })
    this.pool = createPool({
      connectionString: databaseUrl,
      max: 4,
      applicationName: 'holdfast-stage',
      connectTimeoutMs: 10_000,
    })
  }

  static async open(databaseUrl: string): Promise<Stage> {
    return new Stage(databaseUrl, await TallyReceiver.start())
  }

  /** An HTTP endpoint at our receiver, impatient enough for a test. */
  async endpoint(name: string, settings: EndpointChanges = {}): Promise<void> {
    await this.publisher.endpoints.create({
      name,
      ...settings,
      retry: { baseDelayMs: 100, maxDelayMs: 1000, maxRetries: 1000, ...settings.retry },
      ...(settings.transport === 'function'
        ? {}
        : { config: { url: this.receiver.urlOf(name), timeoutMs: 10_000, ...settings.config } }),
    } as EndpointInput)
  }

  /** Starts node processes side by side. */
  async startNodes(names: readonly string[], settings: Partial<NodeSettings> = {}): Promise<NodeProcess[]> {
    const started = await Promise.allSettled(
      names.map(async (name) => {
        const node = NodeProcess.launch({ databaseUrl: this.databaseUrl, name, ...settings })
        this.nodes.push(node)
        await node.waitFor('started')
        return node
      }),
    )
    return started.map((result) => {
      if (result.status === 'rejected') throw result.reason as Error
      return result.value
    })
  }

  launchNode(name: string, settings: Partial<NodeSettings> = {}): NodeProcess {
    const node = NodeProcess.launch({ databaseUrl: this.databaseUrl, name, ...settings })
    this.nodes.push(node)
    return node
  }

  /** Publishes `count` messages `{ n }` and returns their ids. */
  async publish(
    endpoint: string,
    count: number,
    optionsOf: (n: number) => SendOptions & { payload?: object } = () => ({}),
  ): Promise<string[]> {
    const ids: string[] = []
    for (let from = 0; from < count; from += publishBatch) {
      const size = Math.min(publishBatch, count - from)
      const sent = await this.publisher.sendBatch(
        endpoint,
        Array.from({ length: size }, (_, offset) => {
          const { payload, ...options } = optionsOf(from + offset)
          return { payload: { n: from + offset, ...payload }, ...options }
        }),
      )
      ids.push(...sent.map(({ id }) => id))
    }
    return ids
  }

  async owners(): Promise<ShardOwner[]> {
    const { rows } = await this.pool.query<ShardOwner>(
      `select lease.incarnation, node.name, count(*)::int as shards
       from holdfast_internal.shard_leases as lease left join holdfast_internal.nodes as node using (incarnation)
       group by 1, 2 order by 1`,
    )
    return rows
  }

  /** Resolves when these nodes, and nobody else, own all shards between them. */
  async balanced(nodes: readonly NodeProcess[], timeoutMs = 30_000): Promise<ShardOwner[]> {
    const names = nodes.map(({ name }) => name).sort()
    return this.until(
      () => this.owners(),
      (owners) => JSON.stringify(owners.map(({ name }) => name).sort()) === JSON.stringify(names),
      timeoutMs,
      `the shards to be spread over ${names.join(', ')}`,
    )
  }

  /** Which node owns an endpoint's lane. */
  async ownerOf(endpoint: string): Promise<NodeProcess> {
    const { rows } = await this.pool.query<{ name: string }>(
      `select node.name from holdfast_internal.endpoints as endpoint
       join holdfast_internal.shard_leases as lease on lease.shard = endpoint.id & 255
       join holdfast_internal.nodes as node using (incarnation) where endpoint.name = $1`,
      [endpoint],
    )
    const owner = this.nodes.find((node) => node.isRunning && node.name === rows[0]?.name)
    if (owner === undefined) throw new Error(`nobody owns ${endpoint}: ${JSON.stringify(rows)}`)
    return owner
  }

  async owed(): Promise<number> {
    const { rows } = await this.pool.query<{ owed: number }>(
      'select count(*)::int as owed from holdfast_internal.deliveries',
    )
    return rows[0]?.owed ?? 0
  }

  /** Resolves when nothing is owed any more: everything has been settled. */
  async settled(timeoutMs = 30_000): Promise<void> {
    await this.until(
      () => this.owed(),
      (owed) => owed === 0,
      timeoutMs,
      'everything to be settled',
    )
  }

  /** Asks the database again and again: it has nothing to wait on. */
  async until<Value>(
    look: () => Promise<Value>,
    isMet: (value: Value) => boolean,
    timeoutMs: number,
    what: string,
  ): Promise<Value> {
    const deadlineMs = performance.now() + timeoutMs
    for (;;) {
      const value = await look()
      if (isMet(value)) return value
      if (performance.now() > deadlineMs) {
        const nodes = this.nodes.map((node) => `--- ${node.name}\n${node.describe()}`).join('\n')
        throw new Error(`waited ${timeoutMs} ms for ${what}; it stands at ${JSON.stringify(value)}\n${nodes}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node[Symbol.asyncDispose]()))
    await this.receiver.stop()
    await this.publisher.stop()
    // A test that failed inside a transaction has left it open.
    await closePool(this.pool, closeDeadlineMs)
  }
}
