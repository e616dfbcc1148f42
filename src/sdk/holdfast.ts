import type { SettingPin } from '../core/settings/setting-pin.ts'
import { silentLogger } from '../engine/logger.ts'
import type { Node } from '../engine/node.ts'
import { RequestClient, type RequestInput, type RequestResult } from '../engine/request.ts'
import type { JobOf } from '../jobs/job.ts'
import type { JournalEntry } from '../jobs/journal.ts'
import type { RunEnding } from '../jobs/worker-options.ts'
import type { Egress } from '../network/egress.ts'
import { MetricsPage } from '../observe/metrics/metrics-page.ts'
import { NodeMetrics } from '../observe/metrics/node-metrics.ts'
import { tracePublish } from '../observe/tracing.ts'
import { requireDatabaseUrl } from '../postgres/connect/database-url.ts'
import { Listener, type ListenerOptions } from '../postgres/listener.ts'
import { migrate } from '../postgres/migrate.ts'
import { closePool } from '../postgres/pool.ts'
import { assertSchema } from '../postgres/schema.ts'
import { testSessionSupport } from '../postgres/self-test.ts'
import { builtInSources } from '../sources/built-in-sources.ts'
import type { MappedEvent } from '../sources/message-mapping.ts'
import { createSourceRegistry, type SourceRegistry } from '../sources/registry.ts'
import type { Database } from '../storage/database.ts'
import { readGauges } from '../storage/metrics.ts'
import type { Queryable } from '../storage/queryable.ts'
import { readTable } from '../storage/read-table.ts'
import { translateError } from '../storage/translate-error.ts'
import type { RecoveredRuns } from '../storage/workers.ts'
import { builtInTransforms } from '../transforms/built-in-transforms.ts'
import type { ReadTable } from '../transforms/learning/names.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import { builtInTransports } from '../transports/built-in-transports.ts'
import type { Handler } from '../transports/function/handler.ts'
import { createTransportRegistry, type TransportRegistry } from '../transports/registry.ts'
import { checkedHoldfastOptions } from './checked-holdfast-options.ts'
import { checkedTransports } from './checked-transports.ts'
import { createEgressFrom } from './egress-options.ts'
import { type BatchRun, type EnqueueOptions, Enqueuer } from './enqueuer.ts'
import type { HoldfastOptions } from './holdfast-options.ts'
import { createManagement, type Management } from './management.ts'
import { MessageSender } from './message-sender.ts'
import type {
  AnyEvents,
  BatchEvent,
  BatchMessage,
  PublishedEvent,
  PublishOptions,
  SendOptions,
  SentMessage,
} from './messages.ts'
import { NodeProcess } from './node-process.ts'
import { openDatabase } from './open-database.ts'
import { openKeyring } from './open-keyring.ts'
import { optionPins } from './option-pins.ts'
import { PreviewGate } from './preview-gate.ts'
import { PublishLine } from './publish-line.ts'
import { Publisher } from './publisher.ts'
import { RawJson } from './raw-json.ts'
import type { EnqueuedRun } from './stored-run.ts'
import { type BatchOptions, batchClient, queryableOf } from './transaction-client.ts'

const closeDeadlineMs = 5000
/** The preview process stays alive this long: a user who edits an expression requests one preview after the other. */
const previewIdleMs = 10_000

/** Everything that `Management` offers, with the SDK's own actor; the constructor assigns it. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging, no-unused-vars -- one list of what is managed instead of three
export interface Holdfast<Events extends object = AnyEvents> extends Management {}

/**
 * Holdfast in your process: sends messages, and after `start()` delivers them.
 *
 * @example
 * const holdfast = new Holdfast({ databaseUrl, handlers: { mailer: (message) => mail(message.payload) } })
 * await holdfast.migrate()
 * await holdfast.endpoints.create({ name: 'mailer', transport: 'function' })
 * await holdfast.start()
 * await holdfast.send('mailer', { to: 'ada@example.com' })
 *
 * @example
 * // With an event map the compiler knows the event types and their payloads.
 * interface Events { 'order.created': { id: number; total: number } }
 * const holdfast = new Holdfast<Events>({ databaseUrl })
 * await holdfast.publish('order.created', { id: 17, total: 250 })
 */
export class Holdfast<Events extends object = AnyEvents> {
  readonly #sender: MessageSender
  readonly #publisher: Publisher
  readonly #publishLine: PublishLine
  readonly #enqueuer: Enqueuer
  readonly #transforms: TransformRegistry
  readonly #previewTransforms: TransformRegistry
  readonly #previews = new PreviewGate()
  readonly #pins: readonly SettingPin[]
  readonly #options: HoldfastOptions
  readonly #databaseUrl: string
  readonly #handlers: Map<string, Handler>
  readonly #metrics = new NodeMetrics()
  readonly #metricsPage: MetricsPage
  readonly #transports: TransportRegistry
  readonly #sources: SourceRegistry
  readonly #database: Database
  #process: NodeProcess | null = null
  #requests: RequestClient | null = null
  #starting: Promise<void> | null = null
  #listens: Promise<boolean> | null = null
  #stopping: Promise<void> | null = null

  /** `egress` is only for the benchmark, which measures the cost of the network guard; there is no setting for it. */
  constructor(options: HoldfastOptions, egress: Egress = createEgressFrom(checkedHoldfastOptions(options))) {
    this.#options = options
    this.#databaseUrl = requireDatabaseUrl(options.databaseUrl)
    this.#pins = optionPins(options)
    this.#handlers = new Map(Object.entries(options.handlers ?? {}))
    this.#transports = createTransportRegistry(
      [
        ...builtInTransports({ egress, handlers: this.#handlers, smtpUrl: options.smtpUrl ?? null }),
        ...checkedTransports(options.transports ?? []),
      ],
      openKeyring(options.encryptionKey),
    )
    this.#sources = createSourceRegistry(builtInSources({ egress }), this.#transports.keyring)
    this.#database = openDatabase({
      databaseUrl: this.#databaseUrl,
      logger: options.logger,
      maxConnections: options.maxConnections ?? 8,
      applicationName: 'holdfast',
      keepsSessions: false,
    })
    const lookUp: ReadTable = (table, keys) => readTable(this.#database, table, keys)
    this.#transforms = builtInTransforms({ readTable: lookUp })
    this.#previewTransforms = builtInTransforms({ jsonataIdleMs: previewIdleMs, readTable: lookUp })
    this.#sender = new MessageSender(this.#database, () => this.node)
    this.#publisher = new Publisher(this.#database, () => this.node)
    const { endpoints: names = [], topEndpoints: top = 0 } = options.metrics ?? {}
    this.#metricsPage = new MetricsPage({
      own: this.#metrics,
      readGauges: () => readGauges(this.#database, { names, top }),
      nowMs: () => performance.now(),
    })
    this.#publishLine = new PublishLine((events) => this.#publisher.store(events), options.publishLine)
    Object.assign(this, this.as(options.actor ?? 'sdk'))
    this.#enqueuer = new Enqueuer(this.#database, this.#databaseUrl)
  }

  /** Returns the management calls with another actor as the author in the audit log. `database`: this database, in a transaction. */
  as(actor: string, database: Database = this.#database): Management {
    return createManagement({
      actor,
      database: () => database,
      transports: this.#transports,
      sources: this.#sources,
      publishIn: (events, client) => this.#publishMapped(events, client),
      transforms: this.#previewTransforms,
      previews: this.#previews,
      judgesTargets: this.#options.judgesTargets ?? true,
      onEventTypeChanged: (name) => this.#publisher.forget(name),
      onEndpointChanged: (name) => this.node?.endpointChanged(name),
    })
  }

  /** Brings the database's schema up to date. Safe to call from many processes at once. */
  async migrate(): Promise<readonly string[]> {
    try {
      const { logger = silentLogger } = this.#options
      return (await migrate(this.#database.pool, { logger })).applied
    } catch (error) {
      throw translateError(error)
    }
  }

  /** Registers a handler for a `function` endpoint; also possible while running. */
  handle(name: string, handler: Handler): void {
    this.#handlers.set(name, handler)
  }

  /** Stores one message for one endpoint. When this returns, the message is committed (or part of your transaction). */
  async send(endpoint: string, payload: unknown, options: SendOptions = {}): Promise<SentMessage> {
    const { client, ...rest } = options
    const [sent] = await this.sendBatch(
      endpoint,
      [{ payload, ...rest }],
      client === undefined ? {} : { client },
    )
    if (sent === undefined) throw new Error('accept_messages returned nothing for one message')
    return sent
  }

  /** Stores many messages for one endpoint, all or none. */
  async sendBatch(
    endpoint: string,
    messages: readonly BatchMessage[],
    options: BatchOptions = {},
  ): Promise<SentMessage[]> {
    const queryable = batchClient(options)
    return tracePublish(endpoint, messages, (traced) => this.#sender.send(endpoint, traced, queryable))
  }

  /**
   * Stores an event and a delivery for every matching route. When this returns, they are committed (or part of your
   * transaction).
   */
  async publish<Type extends keyof Events & string>(
    type: Type,
    payload: Events[Type] | RawJson,
    options: PublishOptions = {},
  ): Promise<PublishedEvent> {
    const { client, ...rest } = options
    const queryable = client === undefined ? undefined : queryableOf(client)
    return tracePublish(type, [{ ...rest, type, payload }], ([event]) => this.#publish(event, queryable))
  }

  async #publish(event: BatchEvent | undefined, client: Queryable | undefined): Promise<PublishedEvent> {
    try {
      const [prepared] = await this.#publisher.prepare(event === undefined ? [] : [event])
      if (prepared === undefined) throw new Error('one event was prepared as none')
      if (client === undefined) return await this.#publishLine.publish(prepared)
      const [published] = await this.#publisher.store([prepared], client)
      if (published === undefined) throw new Error('accept_events returned nothing for one event')
      return published
    } catch (error) {
      throw translateError(error)
    }
  }

  /** Publishes many events, all or none. */
  async publishBatch(
    events: readonly BatchEvent<Events>[],
    options: BatchOptions = {},
  ): Promise<PublishedEvent[]> {
    const queryable = batchClient(options)
    return tracePublish('events', events as readonly BatchEvent[], async (traced) => {
      try {
        return await this.#publisher.store(await this.#publisher.prepare(traced), queryable)
      } catch (error) {
        throw translateError(error)
      }
    })
  }

  /** Stores a run of a job. When this returns, it is committed (or part of your transaction). */
  async enqueue<Input, Result = unknown>(
    job: JobOf<Input, Result> | string,
    input: NoInfer<Input>,
    options: EnqueueOptions = {},
  ): Promise<EnqueuedRun<Result>> {
    const { client, ...rest } = options
    const queryable = client === undefined ? undefined : queryableOf(client)
    const runs: readonly BatchRun<Input>[] = [{ ...rest, input }]
    const store = (traced: readonly BatchRun<Input>[]) => this.#enqueuer.enqueue(job, traced, queryable)
    const [run] = await tracePublish(nameOf(job), runs, store)
    if (run === undefined) throw new Error('accept_runs returned nothing for one run')
    return run
  }

  /** Stores many runs of a job, all or none. */
  async enqueueBatch<Input, Result = unknown>(
    job: JobOf<Input, Result> | string,
    runs: readonly BatchRun<NoInfer<Input>>[],
    options: BatchOptions = {},
  ): Promise<EnqueuedRun<Result>[]> {
    const queryable = batchClient(options)
    return tracePublish(nameOf(job), runs as readonly BatchRun<Input>[], (traced) =>
      this.#enqueuer.enqueue(job, traced, queryable),
    )
  }

  /** Calls the endpoint synchronously, through its circuit breaker. The audit log names `actor` as the author. */
  async request(
    endpoint: string,
    input: RequestInput = {},
    actor: string = this.#options.actor ?? 'sdk',
  ): Promise<RequestResult> {
    this.#requests ??= new RequestClient({ database: this.#database, transports: this.#transports })
    try {
      return await this.#requests.request(endpoint, input, actor)
    } catch (error) {
      throw translateError(error)
    }
  }

  /** Starts delivering. Safe to call twice, and to call again after a failure. */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch(async (error: unknown) => {
      await this.#process?.stop()
      this.#process = null
      this.#starting = null
      throw this.#stopping === null ? error : translateError(error)
    })
    return this.#starting
  }

  /** Stops delivering, lets attempts in flight finish, and closes every connection. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  /** Counts a run in `holdfast_runs_total` and `holdfast_run_duration_seconds`: pass it to a worker of this process as its `onRunEnded`. */
  readonly countRun = (outcome: RunEnding, durationMs: number | null, job = ''): void =>
    this.#metrics.runEnded(outcome, durationMs, job)

  /** Counts runs that a worker of this process recovered from a dead one: pass it to that worker as its `onRecovered`. */
  readonly countRecovered = (recovered: RecoveredRuns): void => this.#metrics.runsRecovered(recovered)

  /** Metrics for Prometheus: those of this process, and the gauges of the whole cluster. */
  renderMetrics(): Promise<{ contentType: string; body: string }> {
    return this.#metricsPage.render()
  }

  /** Listens for notifications of the database; null if they can't be received. @internal */
  async createListener(
    options: Pick<ListenerOptions, 'channels' | 'onNotification' | 'onReconnect'>,
  ): Promise<Listener | null> {
    this.#listens ??= testSessionSupport(this.#databaseUrl).then(({ listens }) => listens)
    if (!(await this.#listens)) return null
    return new Listener({
      ...options,
      connectionString: this.#databaseUrl,
      applicationName: 'holdfast-stream',
    })
  }

  /** The database of this instance; for the other parts of this package. @internal */
  get database(): Database {
    return this.#database
  }

  /** The running node, for tests and monitoring. */
  get node(): Node | null {
    return this.#process?.node ?? null
  }

  /** Publishes events of sources, whose payloads are JSON text. */
  #publishMapped(events: readonly MappedEvent[], client?: Queryable): Promise<PublishedEvent[]> {
    const batch = events.map(({ type, body, options }) => ({
      ...options,
      type,
      payload: new RawJson(body, true),
    }))
    return this.publishBatch(batch as unknown as readonly BatchEvent<Events>[], client && { client })
  }

  async #start(): Promise<void> {
    const { logger = silentLogger, observer } = this.#options
    await assertSchema(this.#database.pool)
    const support = await testSessionSupport(this.#databaseUrl)
    if (support.reason !== null) {
      logger.warn(
        { reason: support.reason },
        "Notifications can't be received over this connection; the node polls instead",
      )
    }
    if (support.keepsSessions) await this.#database.startPreparing()
    this.#process = new NodeProcess({
      options: this.#options,
      databaseUrl: this.#databaseUrl,
      support,
      transports: this.#transports,
      transforms: this.#transforms,
      pins: this.#pins,
      observers: [this.#metrics, ...(observer === undefined ? [] : [observer])],
      onRecovered: this.countRecovered,
      sources: this.#sources,
      publishMapped: (events, client) => this.#publishMapped(events, client),
      brokerEvents: {
        onSettled: (entries, refused) => this.#countSettled(entries, refused),
        onDeadLetter: (outcome, reason, latencyMs) =>
          this.#metrics.brokerDeadLetter(outcome, reason, latencyMs),
        onDispatched: (runs) => this.#metrics.brokerDispatched(runs),
      },
      onSourceMessages: (source, outcome, count) => this.#metrics.sourceMessages(source, outcome, count),
    })
    await this.#process.start()
  }

  /** Counts runs that workers ended over the broker. */
  #countSettled(entries: readonly JournalEntry[], refused: ReadonlySet<number>): void {
    for (const { record, job = '' } of entries) {
      const { action, id, durationMs } = record
      if (action !== 'retry' && action !== 'release' && !refused.has(id))
        this.countRun(runEndings[action], durationMs, job)
    }
  }

  async #stop(): Promise<void> {
    await this.#starting?.catch(() => {})
    await this.#process?.stop()
    await this.#requests?.close()
    await closePool(this.#database.pool, closeDeadlineMs)
  }
}

const runEndings = { succeed: 'succeeded', dead: 'dead', expire: 'expired', cancel: 'cancelled' } as const

function nameOf(job: { readonly name: string } | string): string {
  return typeof job === 'string' ? job : job.name
}
