import type { Channel, ConfirmChannel } from 'amqplib'
import { type BrokerAddress, brokerName } from '../../amqp/amqp-url.ts'
import type { Amqplib } from '../../amqp/amqplib.ts'
import { BrokerConnection, closedByPeer } from '../../amqp/broker-connection.ts'
import { brokerFailure } from '../../amqp/broker-failure.ts'
import type { Logger } from '../../engine/logger.ts'
import { createEgress } from '../../network/egress.ts'
import { BrokerUnavailableError } from './broker-unavailable-error.ts'

export interface KeptChannelOptions<Kind extends Channel> {
  readonly amqplib: Amqplib
  readonly address: BrokerAddress
  /** Connection name, as shown in the broker's management pages. */
  readonly name: string
  readonly logger: Logger
  /** Channels that the connection may have; 1 by default. */
  readonly maxChannels?: number
  readonly create: (model: ChannelModelOf<Kind>) => Promise<Kind>
  /** A new channel is open. If this rejects, the channel is closed. */
  readonly onOpen: (channel: Kind) => Promise<void>
  readonly onClosed: (error: Error) => void
}

interface ChannelModelOf<Kind> {
  createChannel(): Promise<Channel & Kind>
  createConfirmChannel(): Promise<ConfirmChannel & Kind>
  on(event: string, listener: (reason: string) => void): void
}

const minBackoffMs = 100
const maxBackoffMs = 5000
const connectWithinMs = 10_000

/** The operator configures the worker's broker; it is usually on a private network, so every address is allowed. */
const egress = createEgress({ allowNetworks: ['0.0.0.0/0', '::/0'] })

/** One channel on its own connection, reopened with backoff when it is lost. */
export class KeptChannel<Kind extends Channel> {
  readonly #options: KeptChannelOptions<Kind>
  #connection: BrokerConnection | null = null
  #channel: Kind | null = null
  #backoffMs = minBackoffMs
  #timer: NodeJS.Timeout | null = null
  #isStopped = false
  #isLossNamed = false
  #blockedReason: string | null = null
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = []

  constructor(options: KeptChannelOptions<Kind>) {
    this.#options = options
  }

  /** Null while disconnected. */
  get channel(): Kind | null {
    return this.#channel
  }

  /** Why the broker accepts nothing from this connection; null if it does. */
  get blockedReason(): string | null {
    return this.#blockedReason
  }

  /** Rejects with the first failure and stops; reconnects by itself after a later loss. */
  async start(): Promise<void> {
    this.#isStopped = false
    const opened = new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }))
    this.#connect()
    try {
      await opened
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  /** Closes the connection, which is then reopened. */
  drop(error: Error): void {
    this.#connection?.destroy(error)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    const channel = this.#channel
    if (channel !== null && this.#connection?.isClosed === false) {
      // Close the channel first: the close of a connection may overtake acknowledgements that are still buffered on its channel.
      await Promise.race([channel.close().catch(() => {}), pause(1000)])
    }
    await this.#connection?.close()
  }

  #connect(): void {
    const { amqplib, address, name, maxChannels = 1 } = this.#options
    const { username, password } = address
    const timer = setTimeout(
      () => connection.destroy(new BrokerUnavailableError(`no answer within ${connectWithinMs} ms`)),
      connectWithinMs,
    )
    const connection: BrokerConnection = new BrokerConnection({
      amqplib,
      egress,
      address,
      username: username ?? 'guest',
      password: password ?? 'guest',
      tls: {},
      name,
      maxChannels,
      onSocket: () => {},
      onOpen: async (model) => {
        model.on('blocked', (reason: string) => this.#setBlocked(reason))
        model.on('unblocked', () => this.#setBlocked(null))
        await this.#open(connection, model as unknown as ChannelModelOf<Kind>)
        clearTimeout(timer)
      },
      onClosed: (error) => {
        clearTimeout(timer)
        this.#lost(error)
      },
    })
    this.#connection = connection
    connection.start()
  }

  async #open(connection: BrokerConnection, model: ChannelModelOf<Kind>): Promise<void> {
    const channel = await this.#options.create(model)
    channel.on('error', (error: unknown) => connection.destroy(error))
    channel.on('close', () => connection.destroy(closedByPeer()))
    await this.#options.onOpen(channel)
    if (connection.isClosed) return
    this.#channel = channel
    this.#backoffMs = minBackoffMs
    if (this.#isLossNamed) this.#options.logger.info({ broker: this.#broker }, 'The broker is back')
    this.#isLossNamed = false
    for (const { resolve } of this.#waiting.splice(0)) resolve()
  }

  #lost(thrown: unknown): void {
    const { logger, onClosed } = this.#options
    this.#channel = null
    this.#blockedReason = null
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    const sentence = brokerFailure(thrown, 'queue')?.sentence ?? ''
    const error = new BrokerUnavailableError(`${this.#broker}: ${sentence}${reason}`)
    onClosed(error)
    for (const { reject } of this.#waiting.splice(0)) reject(error)
    if (this.#isStopped) return
    if (!this.#isLossNamed) logger.warn({ error: error.message }, 'The connection to the broker was lost')
    this.#isLossNamed = true
    // Jitter: workers must not all reconnect at once to a broker that has restarted.
    this.#timer = setTimeout(() => this.#connect(), this.#backoffMs * (0.5 + Math.random()))
    this.#backoffMs = Math.min(this.#backoffMs * 2, maxBackoffMs)
  }

  #setBlocked(reason: string | null): void {
    this.#blockedReason = reason
    const { logger } = this.#options
    if (reason === null) logger.info({ broker: this.#broker }, 'The broker accepts messages again')
    else
      logger.warn(
        { broker: this.#broker, reason },
        'The broker accepts no messages: it is short of resources',
      )
  }

  get #broker(): string {
    return brokerName(this.#options.address)
  }
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs).unref()
  })
}
