import type { Socket } from 'node:net'
import type { ChannelModel, ConfirmChannel, Message } from 'amqplib'
import {
  BrokerConnection,
  type BrokerConnectionOptions,
  BrokerError,
  closedByPeer,
} from '../../amqp/broker-connection.ts'
import { isRefusal, Refusals } from '../../amqp/refusals.ts'
import type { AmqpMessage } from './amqp-message.ts'

export interface AmqpConnectionOptions extends Omit<BrokerConnectionOptions, 'onSocket' | 'onOpen'> {
  readonly onOpen: () => void
  /** A message that no queue receives is returned before its confirm. */
  readonly onReturned: (headers: Readonly<Record<string, unknown>>, reason: string) => void
  /** The broker currently accepts no messages: it is short of memory or disk. */
  readonly onBlocked: (reason: string) => void
  readonly onUnblocked: () => void
}

/** A broker returns at most what it received, plus a little: more than twice that, plus this, is an attack or a mistake. */
const spareBytes = 1_048_576

/**
 * One connection with one channel in confirm mode. It never reconnects by itself: after it is closed, the next send opens
 * another one, so that the circuit and the retries decide when.
 */
export class AmqpConnection {
  readonly #options: AmqpConnectionOptions
  readonly #connection: BrokerConnection
  #channel: ConfirmChannel | null = null
  readonly #refusals = new Refusals()
  #published = 0
  #unconfirmed = 0

  constructor(options: AmqpConnectionOptions) {
    this.#options = options
    this.#connection = new BrokerConnection({
      ...options,
      onSocket: (socket) => this.#guard(socket),
      onOpen: (model) => this.#open(model),
    })
  }

  get isOpen(): boolean {
    return this.#channel !== null && !this.#connection.isClosed
  }

  /** Reports by `onOpen` or `onClosed`; never throws. */
  start(): void {
    this.#connection.start()
  }

  /** Throws for a message that can't be encoded, and sends nothing. `onConfirm` gets an error for a nack, and when the connection is closed. */
  publish(exchange: string, message: AmqpMessage, onConfirm: (error: unknown) => void): void {
    const { routingKey, headers, properties, body } = message
    this.#channel?.publish(exchange, routingKey, Buffer.from(body), { ...properties, headers }, (error) => {
      this.#unconfirmed -= 1
      onConfirm(error)
      this.#judge(error)
    })
    this.#published += 1
    this.#unconfirmed += 1
  }

  /** Closes a connection whose messages are all refused, once no other message waits on it: the next send opens another one. */
  #judge(error: unknown): void {
    if (error == null) return this.#refusals.confirmed()
    const reason = isRefusal(error) ? this.#refusals.refused() : null
    if (reason !== null && this.#unconfirmed === 0) this.#connection.destroy(reason)
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  #guard(socket: Socket): void {
    socket.on('readable', () => {
      if (socket.bytesRead > 2 * socket.bytesWritten + spareBytes)
        this.#connection.destroy(
          new BrokerError('protocol_error', 'it sent more than twice as much as it received'),
        )
    })
  }

  async #open(model: ChannelModel): Promise<void> {
    const { onOpen, onBlocked, onUnblocked } = this.#options
    model.on('blocked', onBlocked)
    model.on('unblocked', onUnblocked)
    const channel = await model.createConfirmChannel()
    this.#watchChannel(channel)
    if (this.#connection.isClosed) return
    this.#channel = channel
    onOpen()
  }

  #watchChannel(channel: ConfirmChannel): void {
    channel.on('error', (error) => this.#connection.destroy(error))
    channel.on('close', () => this.#connection.destroy(closedByPeer()))
    channel.on('return', (message) =>
      this.#options.onReturned(message.properties.headers ?? {}, returnReason(message)),
    )
    // For a tag that was never assigned, amqplib would extend its list of unconfirmed messages up to that
    // tag. An error thrown here ends the connection.
    const check = ({ deliveryTag }: { deliveryTag: number }): void => {
      if (deliveryTag < 1 || deliveryTag > this.#published)
        throw new BrokerError('protocol_error', `it confirms message ${deliveryTag}, which was never sent`)
    }
    channel.prependListener('ack', check)
    channel.prependListener('nack', check)
  }
}

function returnReason({ fields }: Message): string {
  const { replyCode, replyText } = fields as { replyCode?: unknown; replyText?: unknown }
  return `${String(replyCode)} ${String(replyText)}`
}
