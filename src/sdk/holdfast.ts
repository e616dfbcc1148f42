import { hostname } from 'node:os'
import { formatId } from '../core/delivery/ids.ts'
import type { SendOptionsInput } from '../core/delivery/send-options.ts'
import type { SettingPin } from '../core/settings/setting-pin.ts'
import type { NodeLimits } from '../engine/limits.ts'
import { type Logger, silentLogger } from '../engine/logger.ts'
import type { MaintenanceTask } from '../engine/maintenance/maintenance-task.ts'
import { Node } from '../engine/node.ts'
import type { NodeObserver } from '../engine/observer.ts'
import { RequestClient, type RequestInput, type RequestResult } from '../engine/request.ts'
import type { JobOf } from '../jobs/job.ts'
import { Keeper } from '../jobs/keeper.ts'
import type { RunEnding } from '../jobs/worker.ts'
import type { Egress } from '../network/egress.ts'
import { MetricsPage } from '../observe/metrics/metrics-page.ts'
import { NodeMetrics } from '../observe/metrics/node-metrics.ts'
import { tracePublish } from '../observe/tracing.ts'
import { requireDatabaseUrl } from '../postgres/connect/database-url.ts'
import { Listener, type ListenerOptions } from '../postgres/listener.ts'
import { migrate } from '../postgres/migrate.ts'
import { closePool, createPool } from '../postgres/pool.ts'
import { assertSchema } from '../postgres/schema.ts'
import { testSessionSupport } from '../postgres/self-test.ts'
import { Database } from '../storage/database.ts'
import { readGauges } from '../storage/metrics.ts'
import { readTable } from '../storage/read-table.ts'
import { checkBound, type Sender, sendMessageBeside, sendMessages } from '../storage/send-messages.ts'
import { translateError } from '../storage/translate-error.ts'
import type { RecoveredRuns } from '../storage/workers.ts'
import { builtInTransforms } from '../transforms/built-in-transforms.ts'
import type { ReadTable } from '../transforms/learning/names.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import { amqpTransport } from '../transports/amqp/amqp-transport.ts'
import { functionTransport } from '../transports/function/function-transport.ts'
import type { Handler } from '../transports/function/handler.ts'
import { httpTransport } from '../transports/http/http-transport.ts'
import { createTransportRegistry, type TransportRegistry } from '../transports/registry.ts'
import { smtpTransport } from '../transports/smtp/smtp-transport.ts'
import { version } from '../version.ts'
import { createEgressFrom } from './egress-options.ts'
import { type BatchRun, type EnqueuedRun, type EnqueueOptions, Enqueuer } from './enqueuer.ts'
import { createManagement, type Management } from './management.ts'
import { checkedOptions } from './message-options.ts'
import { openKeyring } from './open-keyring.ts'
import { type CriticalResend, optionPins, type SettingValues } from './option-pins.ts'
import { encodePayload } from './payload.ts'
import { PreviewGate } from './preview-gate.ts'
import { PublishLine, type PublishLineLimits } from './publish-line.ts'
import { Publisher } from './publisher.ts'
import type { RawJson } from './raw-json.ts'
import { senderOf, type TransactionClient } from './transaction-client.ts'

export interface HoldfastOptions {
  /**
   * A PostgreSQL 15 or newer, e.g. `postgres://user:password@host/database`. With a standby, name both hosts,
   * `postgres://user:password@host1,host2/database`: the one that takes writes is used. Undefined is refused, so that a variable of the environment
   * can be passed as it is.
   */
  readonly databaseUrl: string | undefined
  /** Handlers of `function` endpoints, by endpoint name (or by the endpoint's `config.handler`). */
  readonly handlers?: Readonly<Record<string, Handler>>
  /** How this process is called in the list of nodes. */
  readonly nodeName?: string
  /** True when no other process can run under this name, so that an earlier one of it is certainly dead. */
  readonly isNameExclusive?: boolean
  /** Connections for sending and for looking things up; a started node has eight more of its own, one that listens, and two while it leads. */
  readonly maxConnections?: number
  readonly limits?: Partial<NodeLimits>
  /** How events that are published at the same time are stored together. Measured; there is no need to set it. */
  readonly publishLine?: PublishLineLimits
  readonly logger?: Logger
  readonly observer?: Partial<NodeObserver>
  /** Whose own series the metrics page shows: none unless named, or among the `topEndpoints` with the longest lines. */
  readonly metrics?: { readonly endpoints?: readonly string[]; readonly topEndpoints?: number }
  /** False: no statistics of endpoints are kept, and the failure-rate alert sees nothing. */
  readonly keepsStatistics?: boolean
  /** The mail server that alerts by e-mail go through: `smtp://user:password@host:587` or `smtps://…`. */
  readonly smtpUrl?: string
  /** Where your copy of docs/runbook.md is; alerts link to its sections. */
  readonly runbookUrl?: string
  /** A folder on the database's disk, when this process can see it: then an alert tells when it fills up. */
  readonly diskPath?: string
  /** What one node of the cluster shall do again and again, besides Holdfast's own upkeep. */
  readonly maintenanceTasks?: readonly MaintenanceTask[]
  /**
   * Site-wide settings that this process decides over as long as it delivers: nobody can change them elsewhere. They hold for all nodes, workers and publishers.
   */
  readonly settings?: SettingValues
  /** Where `settings` come from, for the error that others get who try to change one. @internal */
  readonly settingSources?: Readonly<Record<string, string>>
  /** Pins the settings of the re-send of critical dead letters, which is daily at 03:00 UTC when nobody says otherwise; `false`: never. */
  readonly criticalResend?: CriticalResend | false
  /** Who did it, in the audit log. */
  readonly actor?: string
  /** Networks that endpoints may be in though they aren't public, like `['10.1.0.0/16']`. Default: none, loopback neither. */
  readonly allowNetworks?: readonly string[]
  /** `usual` (default: all but the usual ports of other protocols), `any`, or ports like `80,443,8000-8999`. */
  readonly allowPorts?: string
  /** A forward proxy for every outbound connection, like `http://proxy.example:3128`. It resolves the names, so look at docs/network.md. */
  readonly proxyUrl?: string
  /** False: endpoints may be created that this process may not reach, because others deliver. Default: true. */
  readonly judgesTargets?: boolean
  /**
   * The keyring that encrypts endpoints' secrets; the same on every node and client. Left out, the environment variable
   * HOLDFAST_ENCRYPTION_KEY is read; null: none.
   */
  readonly encryptionKey?: string | null
}

export type SendOptions = SendOptionsInput & {
  /** Your own transaction (a `pg` client, or that of Drizzle, Knex, Kysely or Prisma): the message is stored in it, or not at all. */
  readonly client?: TransactionClient | undefined
}

export type BatchMessage = SendOptionsInput & { readonly payload: unknown }

export type PublishOptions = Omit<SendOptionsInput, 'type'> & {
  /** Your own transaction (a `pg` client, or that of Drizzle, Knex, Kysely or Prisma): the event is stored in it, or not at all. */
  readonly client?: TransactionClient | undefined
}

/** An event of a batch. With an event map, its type decides what its payload is. */
export type BatchEvent<Events extends object = AnyEvents> = {
  [Type in keyof Events & string]: Omit<SendOptionsInput, 'type'> & {
    readonly type: Type
    readonly payload: Events[Type] | RawJson
  }
}[keyof Events & string]

/** Events of any type, with any payload. */
export type AnyEvents = Record<string, unknown>

export interface PublishedEvent {
  /** `msg_…`, what receivers see as `webhook-id`. */
  readonly id: string
  /** How many deliveries it led to; 0: no route wants it, and it is kept as unrouted. */
  readonly deliveries: number
  /** Of those, how many wait because their endpoint is paused, disabled or rejecting. */
  readonly held: number
}

export interface SentMessage {
  /** `msg_…`, what receivers see as `webhook-id`. */
  readonly id: string
  readonly deliveryId: string
}

const connectTimeoutMs = 10_000
const queryDeadlineMs = 15_000
const closeDeadlineMs = 5000
/** One reads, two settle, one is at hand for careful mode and probes. */
const workConnections = 4
const controlConnections = 2
/** Opened by the leading node only. */
const maintenanceConnections = 2
/** Larger batches are stored in pieces of this size, inside one transaction. */
const maxBatchMessages = 5000
/** Who edits an expression asks for one preview after the other: its process needn't start for each. */
const previewIdleMs = 10_000

/** Everything that `Management` offers, in the name of the SDK's own actor; the constructor puts it there. */
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
 * // With an event map the compiler knows which events there are, and what is in them.
 * interface Events { 'order.created': { id: number; total: number } }
 * const holdfast = new Holdfast<Events>({ databaseUrl })
 * await holdfast.publish('order.created', { id: 17, total: 250 })
 */
export class Holdfast<Events extends object = AnyEvents> {
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
  readonly #database: Database
  #work: Database | null = null
  #control: Database | null = null
  #beats: Database | null = null
  #upkeep: Database | null = null
  #operationSteps: Database | null = null
  #node: Node | null = null
  #keeper: Keeper | null = null
  #requests: RequestClient | null = null
  #starting: Promise<void> | null = null
  #listens: Promise<boolean> | null = null
  #stopping: Promise<void> | null = null

  /** `egress` is for the benchmark, which asks what the guard costs; no setting leads there. */
  constructor(options: HoldfastOptions, egress: Egress = createEgressFrom(options)) {
    this.#options = options
    this.#databaseUrl = requireDatabaseUrl(options.databaseUrl)
    this.#pins = optionPins(options)
    this.#handlers = new Map(Object.entries(options.handlers ?? {}))
    this.#transports = createTransportRegistry(
      [
        httpTransport({ egress }),
        functionTransport({ handlers: this.#handlers }),
        smtpTransport({ url: options.smtpUrl ?? null }),
        amqpTransport({ egress }),
      ],
      openKeyring(options.encryptionKey),
    )
    this.#database = this.#openDatabase(options.maxConnections ?? 8, 'holdfast', false)
    const lookUp: ReadTable = (table, keys) => readTable(this.#database, table, keys)
    this.#transforms = builtInTransforms({ readTable: lookUp })
    this.#previewTransforms = builtInTransforms({ jsonataIdleMs: previewIdleMs, readTable: lookUp })
    this.#publisher = new Publisher(this.#database)
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

  /** The same, done in somebody's name: what the audit log says of who changed it. `database`: this one, in a transaction. */
  as(actor: string, database: Database = this.#database): Management {
    return createManagement({
      actor,
      database: () => database,
      transports: this.#transports,
      transforms: this.#previewTransforms,
      previews: this.#previews,
      judgesTargets: this.#options.judgesTargets ?? true,
      onEventTypeChanged: (name) => this.#publisher.forget(name),
      onEndpointChanged: (name) => this.#node?.endpointChanged(name),
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

  /** Registers a handler for a `function` endpoint; also while running. */
  handle(name: string, handler: Handler): void {
    this.#handlers.set(name, handler)
  }

  /** Stores one message for one endpoint. When this returns, the message is committed (or as safe as your transaction). */
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
    { client }: { readonly client?: TransactionClient | undefined } = {},
  ): Promise<SentMessage[]> {
    const sender = client === undefined ? undefined : senderOf(client)
    return tracePublish(endpoint, messages, (traced) => this.#sendBatch(endpoint, traced, sender))
  }

  async #sendBatch(
    endpoint: string,
    messages: readonly BatchMessage[],
    client: Sender | undefined,
  ): Promise<SentMessage[]> {
    const bodies: string[] = []
    const options: (object | null)[] = []
    let hasOptions = false
    messages.forEach(({ payload, ...rest }, index) => {
      bodies.push(encodePayload(payload, index))
      const given = Object.keys(rest).length === 0 ? null : checkedOptions(rest, index)
      hasOptions ||= given !== null
      options.push(given)
    })
    try {
      const accepted = await this.#store(client, endpoint, bodies, hasOptions ? options : null)
      return accepted.map((id) => ({ id: formatId('msg', id), deliveryId: formatId('dlv', id) }))
    } catch (error) {
      throw translateError(error)
    }
  }

  /**
   * Stores an event and a delivery for every route that wants it. When this returns, they are committed (or as safe as your
   * transaction).
   */
  async publish<Type extends keyof Events & string>(
    type: Type,
    payload: Events[Type] | RawJson,
    options: PublishOptions = {},
  ): Promise<PublishedEvent> {
    const { client, ...rest } = options
    const sender = client === undefined ? undefined : senderOf(client)
    return tracePublish(type, [{ ...rest, type, payload }], ([event]) => this.#publish(event, sender))
  }

  async #publish(event: BatchEvent | undefined, client: Sender | undefined): Promise<PublishedEvent> {
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
    { client }: { readonly client?: TransactionClient | undefined } = {},
  ): Promise<PublishedEvent[]> {
    const sender = client === undefined ? undefined : senderOf(client)
    return tracePublish('events', events as readonly BatchEvent[], async (traced) => {
      try {
        return await this.#publisher.store(await this.#publisher.prepare(traced), sender)
      } catch (error) {
        throw translateError(error)
      }
    })
  }

  /** Stores a run of a job. When this returns, it is committed (or as safe as your transaction). */
  async enqueue<Input, Result = unknown>(
    job: JobOf<Input, Result> | string,
    input: NoInfer<Input>,
    options: EnqueueOptions = {},
  ): Promise<EnqueuedRun<Result>> {
    const { client, ...rest } = options
    const sender = client === undefined ? undefined : senderOf(client)
    const [run] = await this.#enqueuer.enqueue(job, [{ ...rest, input }], sender)
    if (run === undefined) throw new Error('accept_runs returned nothing for one run')
    return run
  }

  /** Stores many runs of a job, all or none. */
  async enqueueBatch<Input, Result = unknown>(
    job: JobOf<Input, Result> | string,
    runs: readonly BatchRun<NoInfer<Input>>[],
    { client }: { readonly client?: TransactionClient | undefined } = {},
  ): Promise<EnqueuedRun<Result>[]> {
    return this.#enqueuer.enqueue(job, runs, client === undefined ? undefined : senderOf(client))
  }

  /** A synchronous call to the endpoint, through its circuit breaker. The audit log says that `actor` made it. */
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

  /** Starts to deliver. Safe to call twice, and to call again after it failed. */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch(async (error: unknown) => {
      await this.#closeNode()
      this.#node = null
      this.#keeper = null
      this.#starting = null
      throw error
    })
    return this.#starting
  }

  /** Stops delivering, lets what is in flight finish, and closes every connection. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  /** Counts a run in `holdfast_runs_total` and `holdfast_run_duration_seconds`: give it to a worker of this process as its `onRunEnded`. */
  readonly countRun = (outcome: RunEnding, durationMs: number | null): void =>
    this.#metrics.runEnded(outcome, durationMs)

  /** Counts runs that a worker of this process recovered from one that died: give it to that worker as its `onRecovered`. */
  readonly countRecovered = (recovered: RecoveredRuns): void => this.#metrics.runsRecovered(recovered)

  /** What Prometheus reads: what this process did, and the gauges of the whole cluster. */
  renderMetrics(): Promise<{ contentType: string; body: string }> {
    return this.#metricsPage.render()
  }

  /** Notifications of the database; null where they can't get through. @internal */
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

  /** Where this instance keeps everything; for the surfaces of this package. @internal */
  get database(): Database {
    return this.#database
  }

  /** The running node, for those who watch it. */
  get node(): Node | null {
    return this.#node
  }

  async #start(): Promise<void> {
    const { nodeName, logger = silentLogger } = this.#options
    await assertSchema(this.#database.pool)
    const support = await testSessionSupport(this.#databaseUrl)
    if (support.reason !== null) {
      logger.warn({ reason: support.reason }, 'No notifications through this connection: the node polls')
    }
    if (support.keepsSessions) this.#database.startPreparing()
    this.#work = this.#openDatabase(workConnections, 'holdfast-node', support.keepsSessions)
    this.#control = this.#openDatabase(controlConnections, 'holdfast-control', support.keepsSessions)
    this.#beats = this.#openDatabase(1, 'holdfast-beat', support.keepsSessions)
    this.#upkeep = this.#openDatabase(maintenanceConnections, 'holdfast-maintenance', support.keepsSessions)
    this.#operationSteps = this.#openDatabase(1, 'holdfast-operations', support.keepsSessions)
    this.#node = new Node({
      database: this.#work,
      controlDatabase: this.#control,
      beatDatabase: this.#beats,
      maintenanceDatabase: this.#upkeep,
      operationsDatabase: this.#operationSteps,
      transports: this.#transports,
      transforms: this.#transforms,
      name: nodeName ?? hostname(),
      version,
      listenUrl: support.listens ? this.#databaseUrl : null,
      logger,
      ...(this.#options.isNameExclusive !== undefined && { isNameExclusive: this.#options.isNameExclusive }),
      ...(this.#options.limits !== undefined && { limits: this.#options.limits }),
      isCounting: this.#options.keepsStatistics ?? true,
      ...(this.#options.runbookUrl !== undefined && { runbookUrl: this.#options.runbookUrl }),
      ...(this.#options.diskPath !== undefined && { diskPath: this.#options.diskPath }),
      observers: [this.#metrics, ...(this.#options.observer === undefined ? [] : [this.#options.observer])],
      maintenanceTasks: this.#options.maintenanceTasks ?? [],
      pins: this.#pins,
    })
    await this.#node.start()
    const node = this.#node
    // Schedules fire and dead workers' runs go back as long as any node or worker lives.
    this.#keeper = new Keeper({
      database: this.#control,
      logger,
      watchesWorkers: true,
      by: () => node.incarnation,
      onRecovered: this.countRecovered,
    })
    this.#keeper.start()
  }

  async #stop(): Promise<void> {
    await this.#starting?.catch(() => {})
    await this.#closeNode()
    await this.#requests?.close()
    await closePool(this.#database.pool, closeDeadlineMs)
  }

  /** The node, also one that has only half started, with its connections. */
  async #closeNode(): Promise<void> {
    await this.#keeper?.stop()
    await this.#node?.stop()
    for (const database of [this.#work, this.#control, this.#beats, this.#upkeep, this.#operationSteps]) {
      if (database !== null) await closePool(database.pool, closeDeadlineMs)
    }
  }

  async #store(
    client: Sender | undefined,
    endpoint: string,
    bodies: readonly string[],
    options: readonly (object | null)[] | null,
  ) {
    const [body] = bodies
    if (
      this.#node !== null &&
      client === undefined &&
      options === null &&
      bodies.length === 1 &&
      body !== undefined
    )
      return [await this.#storeBeside(this.#node, endpoint, body)]
    // The caller's client may be outside a transaction: then one statement is what keeps the batch whole.
    if (bodies.length <= maxBatchMessages || client !== undefined) {
      return sendMessages(client ?? this.#database.sender, endpoint, bodies, options)
    }
    const storePieces = async (sender: Sender) => {
      const accepted: number[] = []
      await checkBound(sender, bodies.length)
      for (let at = 0; at < bodies.length; at += maxBatchMessages) {
        const to = at + maxBatchMessages
        accepted.push(
          ...(await sendMessages(sender, endpoint, bodies.slice(at, to), options?.slice(at, to) ?? null)),
        )
      }
      return accepted
    }
    return this.#database.inTransaction(storePieces)
  }

  /** For a lane of our own node no notification is needed, and often no read either. */
  async #storeBeside(node: Node, endpoint: string, body: string): Promise<number> {
    try {
      const { isPublishers, ...accepted } = await sendMessageBeside(
        this.#database.sender,
        endpoint,
        body,
        node.incarnation,
      )
      if (isPublishers) node.take({ ...accepted, body })
      return accepted.id
    } catch (error) {
      // It may have been stored all the same.
      node.ring()
      throw error
    }
  }

  /** A session of our own keeps its statements prepared; behind a proxy, or before we know, each is sent whole. */
  #openDatabase(max: number, applicationName: string, keepsSessions: boolean): Database {
    const { logger } = this.#options
    const pool = createPool({
      connectionString: this.#databaseUrl,
      max,
      applicationName,
      connectTimeoutMs,
      deadlineMs: queryDeadlineMs,
      plansOnce: keepsSessions,
      ...(logger !== undefined && { logger }),
    })
    return new Database({ pool, preparesStatements: keepsSessions, deadlineMs: queryDeadlineMs })
  }
}
