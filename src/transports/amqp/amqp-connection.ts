import type { Socket } from 'node:net'
import tls from 'node:tls'
import type { ChannelModel, ConfirmChannel, Message } from 'amqplib'
import type { Egress } from '../../network/egress.ts'
import type { AmqpMessage } from './amqp-message.ts'
import type { BrokerAddress } from './amqp-url.ts'
import type { Amqplib } from './amqplib.ts'

export interface AmqpConnectionOptions {
  readonly amqplib: Amqplib
  readonly egress: Egress
  readonly address: BrokerAddress
  readonly username: string
  readonly password: string
  readonly tls: tls.ConnectionOptions
  /** What the broker's pages call it. */
  readonly name: string
  readonly onOpen: () => void
  /** Once, for whatever reason; nothing is confirmed any more. */
  readonly onClosed: (error: unknown) => void
  /** A message that no queue took comes back before its confirm. */
  readonly onReturned: (headers: Readonly<Record<string, unknown>>, reason: string) => void
  /** The broker takes nothing more for now: memory or disk is short. */
  readonly onBlocked: (reason: string) => void
  readonly onUnblocked: () => void
}

const heartbeatSeconds = 20
const frameBytes = 131_072
/** A broker sends back at most what it was sent, and a little of its own: more is an attack or a mistake. */
const spareBytes = 1_048_576
const closeWithinMs = 1_000

/**
 * One connection with one channel in confirm mode. It never connects again by itself: when it is closed, the next send opens another, so that the
 * circuit and the retries decide.
 */
export class AmqpConnection {
  readonly #options: AmqpConnectionOptions
  #socket: Socket | null = null
  #model: ChannelModel | null = null
  #channel: ConfirmChannel | null = null
  #published = 0
  #isClosed = false

  constructor(options: AmqpConnectionOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#channel !== null && !this.#isClosed
  }

  /** Reports by `onOpen` or `onClosed`; never throws. */
  start(): void {
    const { egress, address } = this.#options
    try {
      const socket = egress.openTcp(address.hostname, address.port)
      this.#watch(socket)
      socket.once('connect', () => (address.isSecure ? this.#secure(socket) : void this.#open(socket)))
    } catch (error) {
      // Not before the caller has this object.
      queueMicrotask(() => this.destroy(error))
    }
  }

  /** Throws for a message that can't be encoded, having sent nothing. `onConfirm` gets an error for a nack, and when the connection is closed. */
  publish(exchange: string, message: AmqpMessage, onConfirm: (error: unknown) => void): void {
    const { routingKey, headers, properties, body } = message
    this.#channel?.publish(exchange, routingKey, Buffer.from(body), { ...properties, headers }, onConfirm)
    this.#published += 1
  }

  /** Tells the broker, and waits for its answer a moment. */
  async close(): Promise<void> {
    const model = this.#model
    if (model !== null && !this.#isClosed) {
      let timer: NodeJS.Timeout | undefined
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeWithinMs)
      })
      await Promise.race([model.close().catch(() => undefined), limit])
      clearTimeout(timer)
    }
    this.destroy(new Error('closed'))
  }

  destroy(error: unknown): void {
    if (this.#isClosed) return
    this.#isClosed = true
    // With an error: amqplib ends its heartbeats for that event only.
    this.#socket?.destroy(error instanceof Error ? error : new Error(String(error)))
    this.#options.onClosed(error)
  }

  #watch(socket: Socket): void {
    this.#socket = socket
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy(closedByPeer()))
  }

  #secure(raw: Socket): void {
    const { hostname } = this.#options.address
    // An address is no server name (RFC 6066).
    const servername = /^[\d.]+$|:/.test(hostname) ? {} : { servername: hostname, host: hostname }
    const socket = tls.connect({ ...this.#options.tls, ...servername, host: hostname, socket: raw })
    this.#watch(socket)
    socket.once('secureConnect', () => void this.#open(socket))
  }

  /** Never rejects. */
  async #open(socket: Socket): Promise<void> {
    const { amqplib, onOpen, onBlocked, onUnblocked } = this.#options
    socket.on('readable', () => {
      if (socket.bytesRead > 2 * socket.bytesWritten + spareBytes)
        this.destroy(new BrokerError('protocol_error', 'it sends more than it was sent'))
    })
    try {
      const connection = new amqplib.Connection(socket)
      await new Promise<void>((resolve, reject) =>
        connection.open(this.#openFields(), (error) => (error == null ? resolve() : reject(toError(error)))),
      )
      const model = new amqplib.ChannelModel(connection)
      this.#model = model
      model.on('error', (error) => this.destroy(error))
      model.on('close', (error) => this.destroy(error ?? closedByPeer()))
      model.on('blocked', onBlocked)
      model.on('unblocked', onUnblocked)
      const channel = await model.createConfirmChannel()
      this.#watchChannel(channel)
      if (this.#isClosed) return
      this.#channel = channel
      onOpen()
    } catch (error) {
      this.destroy(error)
    }
  }

  #watchChannel(channel: ConfirmChannel): void {
    channel.on('error', (error) => this.destroy(error))
    channel.on('close', () => this.destroy(closedByPeer()))
    channel.on('return', (message) =>
      this.#options.onReturned(message.properties.headers ?? {}, returnReason(message)),
    )
    // amqplib would make its list of unconfirmed messages as long as a tag that was never given. What is thrown here ends the connection.
    const check = ({ deliveryTag }: { deliveryTag: number }): void => {
      if (deliveryTag < 1 || deliveryTag > this.#published)
        throw new BrokerError('protocol_error', `it confirms message ${deliveryTag}, which was never sent`)
    }
    channel.prependListener('ack', check)
    channel.prependListener('nack', check)
  }

  #openFields() {
    const { username, password, name, address } = this.#options
    return {
      clientProperties: {
        product: 'Holdfast',
        connection_name: name,
        capabilities: {
          publisher_confirms: true,
          'basic.nack': true,
          'connection.blocked': true,
          authentication_failure_close: true,
        },
      },
      mechanism: 'PLAIN',
      response: Buffer.from(`\0${username}\0${password}`),
      locale: 'en_US',
      channelMax: 1,
      frameMax: frameBytes,
      heartbeat: heartbeatSeconds,
      maxFrameSize: frameBytes,
      virtualHost: address.vhost,
      capabilities: '',
      insist: 0,
    }
  }
}

/** What a broker did or said, by a stable code. */
export class BrokerError extends Error {
  readonly brokerCode: string

  constructor(brokerCode: string, message: string) {
    super(message)
    this.name = 'BrokerError'
    this.brokerCode = brokerCode
  }
}

function closedByPeer(): Error {
  return Object.assign(new Error('the broker closed the connection'), { code: 'ECONNRESET' })
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function returnReason({ fields }: Message): string {
  const { replyCode, replyText } = fields as { replyCode?: unknown; replyText?: unknown }
  return `${String(replyCode)} ${String(replyText)}`
}
