import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage, Options } from 'amqplib'
import type { Amqplib } from '../../amqp/amqplib.ts'
import {
  type BrokerAccess,
  BrokerConnection,
  BrokerError,
  closedByPeer,
} from '../../amqp/broker-connection.ts'
import { brokerFailure } from '../../amqp/broker-failure.ts'
import { isRefusal, Refusals } from '../../amqp/refusals.ts'
import type { DeclaredQueue, TopologyOptions } from '../../broker/topology.ts'
import { exchangesOf, fixedQueuesOf } from '../../broker/topology.ts'
import type { Logger } from '../../engine/logger.ts'
import type { Egress } from '../../network/egress.ts'
import { withDeadline } from '../with-deadline.ts'
import { explainMismatch, TopologyMismatch } from './topology-mismatch.ts'

export interface Consumed {
  readonly message: ConsumeMessage
  readonly acknowledge: () => void
}

export interface Consumption {
  readonly queue: string
  readonly prefetch: number
  readonly onMessage: (consumed: Consumed) => void
}

export interface BrokerLinkOptions extends BrokerAccess {
  readonly amqplib: Amqplib
  readonly egress: Egress
  readonly topology: TopologyOptions
  readonly nodeName: string
  readonly logger: Logger
  readonly consumptions: readonly Consumption[]
  /** The connection is lost: the broker redelivers messages that were not acknowledged on it. */
  readonly onLost: () => void
  readonly onOpen: () => void
}

export type Published = 'confirmed' | 'returned' | 'failed'

/** Channels beside the consuming one: the broker closes a channel when it refuses a check or a declaration on it. */
const maxSideChannels = 20
const confirmWithinMs = 10_000
/** RabbitMQ waits up to 65 s for a queue that has no leader, and then closes the connection. */
const answerWithinMs = 20_000
const closeWithinMs = 1000
const minBackoffMs = 100
const maxBackoffMs = 5000

export interface LinkFailure {
  /** A stable code, e.g. `access_refused`; null for a network failure. */
  readonly code: string | null
  readonly text: string
  /** What to do about the failure; null if that depends on the case. */
  readonly fix: string | null
}

export interface BrokerServer {
  readonly product: string
  readonly version: string
}

export interface InspectedQueue {
  /** Null: the queue doesn't exist. */
  readonly messages: number | null
  readonly consumers: number | null
  readonly problem: { readonly message: string; readonly fix: string } | null
}

interface Unconfirmed {
  readonly settle: (published: Published) => void
  isReturned: boolean
}

/**
 * A node's two connections to the broker. One consumes and one publishes, because a broker that is short of memory or disk stops reading from
 * publishing connections. Either both are open or neither is; they reconnect with backoff.
 */
export class BrokerLink {
  readonly #options: BrokerLinkOptions
  readonly #unconfirmed = new Map<string, Unconfirmed>()
  #open: {
    readonly publish: ConfirmChannel
    readonly consume: ConfirmChannel
    readonly side: ChannelModel
    /** Rejects when the connection is lost. */
    readonly lost: Promise<never>
  } | null = null
  #rejectLost: (error: unknown) => void = () => {}
  #connections: BrokerConnection[] = []
  #channels: ConfirmChannel[] = []
  #timer: NodeJS.Timeout | null = null
  #backoffMs = minBackoffMs
  #isStopped = false
  #lastNumber = 0
  #refusals = new Refusals()
  blockedReason: string | null = null
  /** Why there is no connection. */
  failure: LinkFailure | null = null
  /** The failure of the last connection that was lost or refused; kept after a reconnect. */
  lastFailure: { readonly failure: LinkFailure; readonly atMs: number } | null = null
  /** When the connection was opened, lost, blocked or unblocked, by the monotonic clock. */
  sinceMs = performance.now()
  server: BrokerServer | null = null

  constructor(options: BrokerLinkOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#open !== null
  }

  start(): void {
    this.#connect()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const connections = this.#connections
    // Close the channels first: the close of a connection may overtake acknowledgements that are still buffered on its channel.
    const closed = Promise.all(this.#channels.map((channel) => channel.close().catch(() => undefined)))
    await withDeadline(
      closed.then(() => undefined),
      closeWithinMs,
    )
    await Promise.all(connections.map((connection) => connection.close()))
  }

  /** Never rejects. `failed` means that it is unknown whether the broker has the message. */
  publish(exchange: string, key: string, content: Buffer, properties: Options.Publish): Promise<Published> {
    const channel = this.#open?.publish
    if (channel === undefined || this.blockedReason !== null) return Promise.resolve('failed')
    const name = String(++this.#lastNumber)
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle('failed'), confirmWithinMs)
      const settle = (published: Published): void => {
        clearTimeout(timer)
        this.#unconfirmed.delete(name)
        resolve(published)
      }
      const entry: Unconfirmed = { settle, isReturned: false }
      this.#unconfirmed.set(name, entry)
      const headers = { ...(properties.headers as object | undefined), 'x-holdfast-publish': name }
      try {
        channel.publish(exchange, key, content, { ...properties, headers, mandatory: true }, (error) => {
          settle(error != null ? 'failed' : entry.isReturned ? 'returned' : 'confirmed')
          this.#judge(channel, error)
        })
      } catch {
        settle('failed')
      }
    })
  }

  /** Replaces a connection on which the broker refuses every message. */
  #judge(channel: ConfirmChannel, error: unknown): void {
    if (error == null) return this.#refusals.confirmed()
    const reason = isRefusal(error) ? this.#refusals.refused() : null
    if (reason !== null && this.#open?.publish === channel) channel.emit('error', reason)
  }

  /** Sends a message to a worker's own queue, without waiting for a confirm. */
  tell(queue: string, content: Buffer): void {
    if (this.blockedReason !== null) return
    try {
      this.#open?.publish.publish('', queue, content, { persistent: false, contentType: 'application/json' })
    } catch {
      // The channel is closing; the worker repeats its request.
    }
  }

  /** Rejects with a hint what to do if the queue exists with other arguments. */
  async declare(queue: DeclaredQueue): Promise<void> {
    try {
      await this.#aside((channel) => declareQueue(channel, queue))
    } catch (error) {
      throw explainMismatch(error)
    }
  }

  /** Returns the number of ready messages and of consumers. */
  async look(queue: string): Promise<{ readonly messages: number; readonly consumers: number }> {
    const seen = await this.#aside((channel) => channel.checkQueue(queue))
    return { messages: seen.messageCount, consumers: seen.consumerCount }
  }

  /** Returns the state of the queue, and whether its arguments match; with `mayDeclare`, declares a missing queue. */
  async inspect(queue: DeclaredQueue, mayDeclare: boolean): Promise<InspectedQueue> {
    try {
      const seen = await this.#aside((channel) =>
        mayDeclare ? declareQueue(channel, queue) : channel.checkQueue(queue.name),
      )
      return { messages: seen.messageCount, consumers: seen.consumerCount, problem: null }
    } catch (error) {
      const explained = explainMismatch(error)
      if (explained instanceof TopologyMismatch) {
        const seen = await this.inspect(queue, false)
        return { ...seen, problem: { message: explained.problem, fix: explained.fix } }
      }
      if (brokerFailure(error, 'queue')?.code !== 'queue_missing') throw error
      return { messages: null, consumers: null, problem: null }
    }
  }

  /** Deletes the queue with its messages. Quorum queues don't support `if-empty` and `if-unused`: call `look` first. */
  async remove(queue: string): Promise<void> {
    await this.#aside((channel) => channel.deleteQueue(queue))
  }

  /**
   * Calls on a separate channel, because the broker closes the channel of a call that it refuses. Rejects when the connection is lost: amqplib leaves
   * some calls without an answer then.
   */
  async #aside<Result>(ask: (channel: Channel) => Promise<Result>): Promise<Result> {
    const open = this.#open
    if (open === null) throw closedByPeer()
    const asked = askAside(open.side, ask)
    // The race may be over: prevent an unhandled rejection.
    asked.catch(() => {})
    return Promise.race([asked, open.lost])
  }

  #connect(): void {
    if (this.#isStopped) return
    const opened: { publish?: ConfirmChannel; consume?: ConfirmChannel; side?: ChannelModel } = {}
    let isLost = false
    const lose = (error: unknown): void => {
      if (isLost) return
      isLost = true
      for (const connection of this.#connections) connection.destroy(error)
      this.#lost(error)
    }
    this.#channels = []
    this.#connections = (['publish', 'consume'] as const).map((purpose) => {
      const connection: BrokerConnection = new BrokerConnection({
        ...this.#options,
        name: `Holdfast node ${this.#options.nodeName} ${purpose}`,
        maxChannels: 1 + maxSideChannels,
        onSocket: () => {},
        onOpen: async (model) => {
          const channel = await model.createConfirmChannel()
          this.#channels.push(channel)
          channel.on('error', (error) => connection.destroy(error))
          channel.on('close', () => connection.destroy(closedByPeer()))
          if (purpose === 'publish') this.#watch(model, channel)
          else {
            this.server = serverOf(model)
            await this.#declareAll(channel)
            opened.side = model
          }
          opened[purpose] = channel
          const { publish, consume, side } = opened
          if (publish !== undefined && consume !== undefined && side !== undefined)
            await this.#opened(publish, consume, side)
        },
        onClosed: lose,
      })
      return connection
    })
    for (const connection of this.#connections) connection.start()
  }

  #watch(model: ChannelModel, channel: ConfirmChannel): void {
    model.on('blocked', (reason) => {
      this.blockedReason = reason
      this.sinceMs = performance.now()
      this.#options.logger.warn({ reason }, 'The broker accepts no messages; nothing is dispatched')
    })
    model.on('unblocked', () => {
      this.blockedReason = null
      this.sinceMs = performance.now()
      this.#options.logger.info({}, 'The broker accepts messages again')
      this.#options.onOpen()
    })
    channel.on('return', (message) => {
      const name: unknown = message.properties.headers?.['x-holdfast-publish']
      const entry = typeof name === 'string' ? this.#unconfirmed.get(name) : undefined
      if (entry !== undefined) entry.isReturned = true
    })
  }

  async #declareAll(channel: ConfirmChannel): Promise<void> {
    const { topology } = this.#options
    for (const { name, type } of exchangesOf(topology)) {
      await channel.assertExchange(name, type, { durable: true })
    }
    for (const queue of fixedQueuesOf(topology)) await answered(declareQueue(channel, queue), queue.name)
  }

  async #opened(publish: ConfirmChannel, consume: ConfirmChannel, side: ChannelModel): Promise<void> {
    const lost = new Promise<never>((_, reject) => {
      this.#rejectLost = reject
    })
    lost.catch(() => {})
    this.#open = { publish, consume, side, lost }
    this.#refusals = new Refusals()
    for (const { queue, prefetch, onMessage } of this.#options.consumptions) {
      await consume.prefetch(prefetch)
      const consumed = consume.consume(queue, (message) => {
        if (message === null) return consume.emit('error', new Error(`the queue ${queue} was deleted`))
        let isOpen = true
        return onMessage({
          message,
          acknowledge: () => {
            if (!isOpen || this.#open?.consume !== consume) return
            isOpen = false
            try {
              consume.ack(message)
            } catch {
              // The channel is being closed: the broker delivers the message again.
            }
          },
        })
      })
      await answered(consumed, queue)
    }
    this.#backoffMs = minBackoffMs
    this.failure = null
    this.sinceMs = performance.now()
    this.#options.logger.info({ prefix: this.#options.topology.prefix }, 'Connected to the broker')
    this.#options.onOpen()
  }

  #lost(error: unknown): void {
    const wasOpen = this.#open !== null
    this.#open = null
    this.#rejectLost(error)
    this.blockedReason = null
    for (const { settle } of this.#unconfirmed.values()) settle('failed')
    if (this.#isStopped) return
    const failure = linkFailure(error)
    if (wasOpen) this.sinceMs = performance.now()
    if (wasOpen || this.failure?.text !== failure.text)
      this.#options.logger.warn({ error: failure.text }, 'No connection to the broker; trying again')
    this.failure = failure
    this.lastFailure = { failure, atMs: performance.now() }
    if (wasOpen) this.#options.onLost()
    this.#timer = setTimeout(() => this.#connect(), this.#backoffMs * (0.5 + Math.random()))
    this.#backoffMs = Math.min(this.#backoffMs * 2, maxBackoffMs)
  }
}

async function askAside<Result>(
  model: ChannelModel,
  ask: (channel: Channel) => Promise<Result>,
): Promise<Result> {
  const channel = await model.createChannel()
  channel.on('error', () => {
    // The failed call rejects with this error.
  })
  try {
    return await ask(channel)
  } finally {
    await channel.close().catch(() => undefined)
  }
}

/** Rejects when the broker doesn't answer about this queue in time. */
async function answered<Answer>(answer: Promise<Answer>, queue: string): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new UnansweredQueue(queue)), answerWithinMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
    // After the timeout the connection is closed, which rejects this promise.
    answer.catch(() => {})
  }
}

/** The queue is not deleted here: it may contain results of workers. */
class UnansweredQueue extends BrokerError {
  readonly fix: string

  constructor(queue: string) {
    super('queue_unanswered', `The broker does not answer for the queue "${queue}": it may have no leader.`)
    this.fix = `Look at its members (rabbitmq-queues quorum_status ${queue}). If the broker can not recover it, delete it (rabbitmqctl delete_queue ${queue}); Holdfast declares it again.`
  }
}

function linkFailure(error: unknown): LinkFailure {
  if (error instanceof UnansweredQueue) return { code: error.brokerCode, text: error.message, fix: error.fix }
  const explained = explainMismatch(error)
  const failure = brokerFailure(explained, 'queue')
  if (explained instanceof TopologyMismatch)
    return { code: explained.brokerCode, text: explained.message, fix: explained.fix }
  if (failure === null) return { code: null, text: String(error), fix: null }
  return { code: failure.code, text: `${failure.sentence}${failure.reason}`, fix: null }
}

function serverOf(model: ChannelModel): BrokerServer {
  const { product, version } = model.connection.serverProperties
  return { product, version }
}

async function declareQueue(channel: Channel, { name, arguments: args, bindings }: DeclaredQueue) {
  const seen = await channel.assertQueue(name, { durable: true, arguments: args })
  for (const { exchange, key } of bindings) await channel.bindQueue(name, exchange, key)
  return seen
}
