import { hostname } from 'node:os'
import { formatId } from './core/ids.ts'
import type { SendOptionsInput } from './core/send-options.ts'
import { Endpoints } from './endpoints.ts'
import type { NodeLimits } from './engine/limits.ts'
import { type Logger, silentLogger } from './engine/logger.ts'
import { Node } from './engine/node.ts'
import type { NodeObserver } from './engine/observer.ts'
import { RequestClient, type RequestInput, type RequestResult } from './engine/request.ts'
import { EventTypes } from './event-types.ts'
import { checkedOptions } from './message-options.ts'
import { encodePayload } from './payload.ts'
import { migrate } from './postgres/migrate.ts'
import { closePool, createPool } from './postgres/pool.ts'
import { assertSchema } from './postgres/schema.ts'
import { testSessionSupport } from './postgres/self-test.ts'
import { Publisher } from './publisher.ts'
import { Routes } from './routes.ts'
import { Database } from './storage/database.ts'
import { checkBound, type Sender, sendMessages } from './storage/send-messages.ts'
import { translateError } from './storage/translate-error.ts'
import { builtInTransforms } from './transforms/built-in-transforms.ts'
import type { TransformRegistry } from './transforms/registry.ts'
import { functionTransport } from './transports/function/function-transport.ts'
import type { Handler } from './transports/function/handler.ts'
import { httpTransport } from './transports/http/http-transport.ts'
import { createTransportRegistry, type TransportRegistry } from './transports/registry.ts'
import { version } from './version.ts'

export interface HoldfastOptions {
  /** A PostgreSQL 15 or newer, e.g. `postgres://user:password@host/database`. */
  readonly databaseUrl: string
  /** Handlers of `function` endpoints, by endpoint name (or by the endpoint's `config.handler`). */
  readonly handlers?: Readonly<Record<string, Handler>>
  /** How this process is called in the list of nodes. */
  readonly nodeName?: string
  /** True when no other process can run under this name, so that an earlier one of it is certainly dead. */
  readonly isNameExclusive?: boolean
  /** Connections for sending and for looking things up; a started node has seven more of its own, and one that listens. */
  readonly maxConnections?: number
  readonly limits?: Partial<NodeLimits>
  readonly logger?: Logger
  readonly observer?: NodeObserver
  /** Who did it, in the audit log. */
  readonly actor?: string
}

export type SendOptions = SendOptionsInput & {
  /** Your own `pg` client or pool client: the message is stored in its transaction, or not at all. */
  readonly client?: Sender
}

export type BatchMessage = SendOptionsInput & { readonly payload: unknown }

export type PublishOptions = Omit<SendOptionsInput, 'type'> & {
  /** Your own `pg` client or pool client: the event is stored in its transaction, or not at all. */
  readonly client?: Sender
}

export type BatchEvent = Omit<SendOptionsInput, 'type'> & { readonly type: string; readonly payload: unknown }

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
/** Larger batches are stored in pieces of this size, inside one transaction. */
const maxBatchMessages = 5000

/**
 * Holdfast in your process: sends messages, and after `start()` delivers them.
 *
 * @example
 * const holdfast = new Holdfast({ databaseUrl, handlers: { mailer: (message) => mail(message.payload) } })
 * await holdfast.migrate()
 * await holdfast.endpoints.create({ name: 'mailer', transport: 'function' })
 * await holdfast.start()
 * await holdfast.send('mailer', { to: 'ada@example.com' })
 */
export class Holdfast {
  readonly endpoints: Endpoints
  readonly routes: Routes
  readonly eventTypes: EventTypes
  readonly #publisher: Publisher
  readonly #transforms: TransformRegistry
  readonly #options: HoldfastOptions
  readonly #handlers: Map<string, Handler>
  readonly #transports: TransportRegistry
  readonly #database: Database
  #work: Database | null = null
  #control: Database | null = null
  #beats: Database | null = null
  #node: Node | null = null
  #requests: RequestClient | null = null
  #starting: Promise<void> | null = null
  #stopping: Promise<void> | null = null

  constructor(options: HoldfastOptions) {
    this.#options = options
    this.#handlers = new Map(Object.entries(options.handlers ?? {}))
    this.#transports = createTransportRegistry([
      httpTransport(),
      functionTransport({ handlers: this.#handlers }),
    ])
    this.#database = this.#openDatabase(options.maxConnections ?? 8, 'holdfast', false)
    this.#transforms = builtInTransforms()
    this.#publisher = new Publisher(this.#database)
    const shared = { database: () => this.#database, actor: options.actor ?? 'sdk' }
    this.endpoints = new Endpoints({ ...shared, transports: this.#transports })
    this.routes = new Routes({ ...shared, transforms: this.#transforms, transports: this.#transports })
    this.eventTypes = new EventTypes({ ...shared, onChanged: (name) => this.#publisher.forget(name) })
  }

  /** Brings the database's schema up to date. Safe to call from many processes at once. */
  async migrate(): Promise<readonly string[]> {
    try {
      return (await migrate(this.#database.pool)).applied
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
    { client }: { readonly client?: Sender } = {},
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
  async publish(type: string, payload: unknown, options: PublishOptions = {}): Promise<PublishedEvent> {
    const { client, ...rest } = options
    const [published] = await this.publishBatch(
      [{ ...rest, type, payload }],
      client === undefined ? {} : { client },
    )
    if (published === undefined) throw new Error('accept_events returned nothing for one event')
    return published
  }

  /** Publishes many events, all or none. */
  async publishBatch(
    events: readonly BatchEvent[],
    { client }: { readonly client?: Sender } = {},
  ): Promise<PublishedEvent[]> {
    try {
      return await this.#publisher.publish(events, client)
    } catch (error) {
      throw translateError(error)
    }
  }

  /** A synchronous call to the endpoint, through its circuit breaker. */
  async request(endpoint: string, input: RequestInput = {}): Promise<RequestResult> {
    this.#requests ??= new RequestClient({ database: this.#database, transports: this.#transports })
    try {
      return await this.#requests.request(endpoint, input)
    } catch (error) {
      throw translateError(error)
    }
  }

  /** Starts to deliver. Safe to call twice. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** Stops delivering, lets what is in flight finish, and closes every connection. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  /** The running node, for those who watch it. */
  get node(): Node | null {
    return this.#node
  }

  async #start(): Promise<void> {
    const { databaseUrl, nodeName, logger = silentLogger } = this.#options
    await assertSchema(this.#database.pool)
    const support = await testSessionSupport(databaseUrl)
    if (support.reason !== null) {
      logger.warn({ reason: support.reason }, 'No notifications through this connection: the node polls')
    }
    this.#work = this.#openDatabase(workConnections, 'holdfast-node', support.keepsSessions)
    this.#control = this.#openDatabase(controlConnections, 'holdfast-control', support.keepsSessions)
    this.#beats = this.#openDatabase(1, 'holdfast-beat', support.keepsSessions)
    this.#node = new Node({
      database: this.#work,
      controlDatabase: this.#control,
      beatDatabase: this.#beats,
      transports: this.#transports,
      transforms: this.#transforms,
      name: nodeName ?? hostname(),
      version,
      listenUrl: support.listens ? databaseUrl : null,
      logger,
      ...(this.#options.isNameExclusive !== undefined && { isNameExclusive: this.#options.isNameExclusive }),
      ...(this.#options.limits !== undefined && { limits: this.#options.limits }),
      ...(this.#options.observer !== undefined && { observer: this.#options.observer }),
    })
    await this.#node.start()
  }

  async #stop(): Promise<void> {
    await this.#starting?.catch(() => {})
    await this.#node?.stop()
    await this.#requests?.close()
    for (const database of [this.#work, this.#control, this.#beats]) {
      if (database !== null) await closePool(database.pool, closeDeadlineMs)
    }
    await closePool(this.#database.pool, closeDeadlineMs)
  }

  async #store(
    client: Sender | undefined,
    endpoint: string,
    bodies: readonly string[],
    options: readonly (object | null)[] | null,
  ) {
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

  /** A session of our own keeps its statements prepared; behind a proxy, or before we know, each is sent whole. */
  #openDatabase(max: number, applicationName: string, keepsSessions: boolean): Database {
    const { databaseUrl, logger } = this.#options
    const pool = createPool({
      connectionString: databaseUrl,
      max,
      applicationName,
      connectTimeoutMs,
      plansOnce: keepsSessions,
      ...(logger !== undefined && { logger }),
    })
    return new Database({ pool, preparesStatements: keepsSessions, deadlineMs: queryDeadlineMs })
  }
}
