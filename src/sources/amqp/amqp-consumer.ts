import type { Socket } from 'node:net'
import type { Channel, ChannelModel } from 'amqplib'
import { brokerName } from '../../amqp/amqp-url.ts'
import type { Amqplib, RawConnection } from '../../amqp/amqplib.ts'
import { boundMessages } from '../../amqp/bound-messages.ts'
import {
  type BrokerAccess,
  BrokerConnection,
  BrokerError,
  closedByPeer,
} from '../../amqp/broker-connection.ts'
import { brokerFailure } from '../../amqp/broker-failure.ts'
import type { Egress } from '../../network/egress.ts'
import { NetworkRefusal } from '../../network/network-refusal.ts'
import { harmlessText } from '../../transports/http/harmless-text.ts'
import { networkFailure } from '../../transports/http/network-error.ts'
import type { SourceConnection, SourceFailure, SourceListener, SourceMessage } from '../source.ts'
import type { AmqpSourceConfig } from './amqp-source-config.ts'
import { receivedMessage } from './received-message.ts'

export interface AmqpConsumerOptions extends BrokerAccess {
  readonly source: string
  readonly config: AmqpSourceConfig
  readonly egress: Egress
  readonly amqplib: Amqplib
  readonly listener: SourceListener
}

/** While more bytes than this are unacknowledged, nothing is read: the prefetch limits only the number of messages. */
const maxHeldBytes = 32 * 1024 * 1024
const heartbeatHelpMs = 5_000
const connectWithinMs = 30_000
const closeWithinMs = 1_000
const maxReasonLength = 500

/** One connection that consumes one queue, with manual acknowledgements. */
export class AmqpConsumer implements SourceConnection {
  readonly #options: AmqpConsumerOptions
  readonly #connection: BrokerConnection
  readonly #subject: string
  #channel: Channel | null = null
  /** Bytes of unacknowledged messages by receipt, in the order of arrival. */
  readonly #held = new Map<number, number>()
  #heldBytes = 0
  #lastReceipt = 0
  #gate: ReadGate | null = null
  #connectTimer: NodeJS.Timeout | null = null

  constructor(options: AmqpConsumerOptions) {
    const { source, config, address, listener } = options
    this.#options = options
    this.#subject = `Queue "${config.queue}" of ${brokerName(address)}`
    this.#connection = new BrokerConnection({
      ...options,
      name: `Holdfast source ${source}`,
      onSocket: (socket, connection) => {
        this.#gate = new ReadGate(socket, connection)
      },
      onOpen: (model) => this.#consume(model),
      onClosed: (error) => {
        this.#stopTimers()
        listener.onClosed(this.#failureOf(error))
      },
    })
  }

  start(): void {
    this.#connectTimer = setTimeout(() => {
      const error = new Error(`it did not let us consume within ${connectWithinMs} ms`)
      this.#connection.destroy(Object.assign(error, { code: 'ETIMEDOUT' }))
    }, connectWithinMs)
    this.#connection.start()
  }

  acknowledge({ receipt }: SourceMessage): void {
    for (const [held, bytes] of this.#held) {
      if (held > receipt) break
      this.#held.delete(held)
      this.#heldBytes -= bytes
    }
    if (this.#connection.isClosed) return
    this.#channel?.ack({ fields: { deliveryTag: receipt } } as Parameters<Channel['ack']>[0], true)
    if (this.#heldBytes <= maxHeldBytes) this.#gate?.open()
  }

  async close(): Promise<void> {
    // The broker's answer to the close can only be read while the gate is open.
    this.#gate?.open()
    await this.#closeChannel()
    await this.#connection.close()
    this.#stopTimers()
  }

  /** Closes the channel first: closing the connection may overtake acknowledgements that wait on its channel. */
  async #closeChannel(): Promise<void> {
    if (this.#channel === null || this.#connection.isClosed) return
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeWithinMs)
    })
    await Promise.race([this.#channel.close().catch(() => undefined), limit])
    clearTimeout(timer)
  }

  async #consume(model: ChannelModel): Promise<void> {
    const { config, listener } = this.#options
    const channel = await model.createChannel()
    channel.on('error', (error) => this.#connection.destroy(error))
    channel.on('close', () => this.#connection.destroy(closedByPeer()))
    boundMessages(channel, (error) => this.#connection.destroy(error))
    await channel.prefetch(config.prefetch)
    this.#channel = channel
    let isOpen = false
    const open = (): void => {
      if (isOpen || this.#connection.isClosed) return
      isOpen = true
      if (this.#connectTimer !== null) clearTimeout(this.#connectTimer)
      listener.onOpen()
    }
    await channel.consume(config.queue, (message) => {
      open()
      if (message === null)
        this.#connection.destroy(
          new BrokerError('consumer_cancelled', 'the broker cancelled the consumer: the queue was deleted'),
        )
      else this.#receive(receivedMessage(message, config.queue))
    })
    open()
  }

  #receive(message: SourceMessage): void {
    const { config, listener } = this.#options
    if (this.#connection.isClosed) return
    if (message.receipt <= this.#lastReceipt) {
      this.#connection.destroy(
        new BrokerError('protocol_error', `it numbered two messages ${message.receipt}`),
      )
      return
    }
    this.#lastReceipt = message.receipt
    this.#held.set(message.receipt, message.body.length)
    this.#heldBytes += message.body.length
    if (this.#held.size > config.prefetch) {
      this.#connection.destroy(
        new BrokerError('protocol_error', `it sent more than ${config.prefetch} unacknowledged messages`),
      )
      return
    }
    if (this.#heldBytes > maxHeldBytes) this.#gate?.shut()
    listener.onMessage(message)
  }

  #failureOf(error: unknown): SourceFailure {
    const failure = error instanceof NetworkRefusal ? null : brokerFailure(error, 'queue')
    if (failure === null) {
      const said = networkFailure(error, this.#subject).error
      return said.code === 'connection_reset'
        ? { code: said.code, message: `${this.#subject}: the connection was lost.` }
        : said
    }
    const reason = harmlessText(failure.reason).slice(0, maxReasonLength)
    return { code: failure.code, message: `${this.#subject}: ${failure.sentence}${reason}.` }
  }

  #stopTimers(): void {
    if (this.#connectTimer !== null) clearTimeout(this.#connectTimer)
    this.#gate?.dispose()
  }
}

/** Stops amqplib from reading, so that data from the broker waits in TCP's buffers. */
class ReadGate {
  readonly #socket: Socket
  readonly #connection: RawConnection
  #timer: NodeJS.Timeout | null = null

  constructor(socket: Socket, connection: RawConnection) {
    this.#socket = socket
    this.#connection = connection
    const read = socket.read.bind(socket)
    socket.read = (size) => (this.#timer === null ? (read(size) as unknown) : null)
  }

  shut(): void {
    // The broker is alive, but we don't read its heartbeats.
    this.#timer ??= setInterval(() => {
      this.#connection.recvSinceLastCheck = true
    }, heartbeatHelpMs)
  }

  open(): void {
    if (this.#timer === null) return
    this.dispose()
    setImmediate(() => this.#socket.emit('readable'))
  }

  dispose(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}
