import type { ConfirmChannel, Message } from 'amqplib'
import type { BrokerAddress } from '../../amqp/amqp-url.ts'
import type { Amqplib } from '../../amqp/amqplib.ts'
import { isRefusal, Refusals } from '../../amqp/refusals.ts'
import { type BeatsMessage, encodeMessage, type ResultsMessage } from '../../broker/protocol.ts'
import { beatsKey, resultsKey, topologyNames } from '../../broker/topology.ts'
import type { Logger } from '../../engine/logger.ts'
import { BrokerUnavailableError } from './broker-unavailable-error.ts'
import { KeptChannel } from './kept-channel.ts'

export interface ConfirmedPublisherOptions {
  readonly amqplib: Amqplib
  readonly address: BrokerAddress
  readonly prefix: string
  readonly name: string
  readonly logger: Logger
  /** A new channel is open. */
  readonly onOpen?: (channel: ConfirmChannel) => Promise<void>
}

interface Unconfirmed {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  readonly sentAtMs: number
}

const confirmWithinMs = 15_000
const lookMs = 1000

/** Publishes messages that nodes must not miss: each call resolves when the broker has stored the message in the results queue. */
export class ConfirmedPublisher {
  readonly #options: ConfirmedPublisherOptions
  readonly #kept: KeptChannel<ConfirmChannel>
  readonly #exchange: string
  /** By message id, in the order of sending. */
  readonly #unconfirmed = new Map<string, Unconfirmed>()
  #refusals = new Refusals()
  #next = 0
  #timer: NodeJS.Timeout | null = null

  constructor(options: ConfirmedPublisherOptions) {
    this.#options = options
    this.#exchange = topologyNames(options.prefix).results
    this.#kept = new KeptChannel<ConfirmChannel>({
      ...options,
      create: (model) => model.createConfirmChannel(),
      onOpen: async (channel) => {
        this.#refusals = new Refusals()
        await options.onOpen?.(channel)
        channel.on('return', ({ properties }: Message) => this.#returned(String(properties.messageId)))
      },
      onClosed: (error) => this.#failAll(error),
    })
  }

  get isBlocked(): boolean {
    return this.#kept.blockedReason !== null
  }

  /** Rejects if the broker is unavailable; reconnects by itself after a later loss. */
  async start(): Promise<void> {
    await this.#kept.start()
    this.#timer = setInterval(() => this.#look(), lookMs)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#kept.stop()
  }

  /** `replyTo`: the queue on which this worker receives the answer. */
  publish(message: ResultsMessage, replyTo: string | null): Promise<void> {
    const { channel } = this.#kept
    if (channel === null) return Promise.reject(new BrokerUnavailableError('the broker is not connected'))
    this.#next += 1
    const messageId = String(this.#next)
    return new Promise((resolve, reject) => {
      this.#unconfirmed.set(messageId, { resolve, reject, sentAtMs: performance.now() })
      const options = {
        messageId,
        persistent: true,
        mandatory: true,
        contentType: 'application/json',
        ...(replyTo !== null && { replyTo }),
      }
      try {
        channel.publish(this.#exchange, resultsKey, encodeMessage(message), options, (error: unknown) =>
          this.#answered(messageId, error),
        )
      } catch (error) {
        // The channel is closing.
        this.#settle(messageId, new BrokerUnavailableError(String(error)))
      }
    })
  }

  /** Sends messages that may be lost: heartbeats and progress. */
  send(message: BeatsMessage, replyTo: string | null): void {
    const { channel } = this.#kept
    if (channel === null) throw new BrokerUnavailableError('the broker is not connected')
    channel.publish(this.#exchange, beatsKey, encodeMessage(message), {
      contentType: 'application/json',
      ...(replyTo !== null && { replyTo }),
    })
  }

  /** The broker returned the message: no node has declared the queue yet, or somebody deleted it. */
  #returned(messageId: string): void {
    const { prefix } = this.#options
    const queue = topologyNames(prefix).resultsQueue
    this.#settle(
      messageId,
      new BrokerUnavailableError(`the queue "${queue}" is missing; a node with the same broker declares it`),
    )
  }

  #answered(messageId: string, error: unknown): void {
    if (error == null) {
      this.#refusals.confirmed()
      this.#settle(messageId, null)
      return
    }
    this.#settle(messageId, new BrokerUnavailableError('the broker refused a message'))
    const reason = isRefusal(error) ? this.#refusals.refused() : null
    if (reason !== null) this.#kept.drop(reason)
  }

  #settle(messageId: string, error: Error | null): void {
    const call = this.#unconfirmed.get(messageId)
    if (call === undefined) return
    this.#unconfirmed.delete(messageId)
    if (error === null) call.resolve()
    else call.reject(error)
  }

  #failAll(error: Error): void {
    const calls = [...this.#unconfirmed.values()]
    this.#unconfirmed.clear()
    for (const { reject } of calls) reject(error)
  }

  /** Replaces a connection that confirms nothing any more. A blocked connection is kept: it resumes when the broker's alarm ends. */
  #look(): void {
    const [oldest] = this.#unconfirmed.values()
    if (oldest === undefined || this.isBlocked) return
    if (performance.now() - oldest.sentAtMs > confirmWithinMs)
      this.#kept.drop(new BrokerUnavailableError(`no confirm within ${confirmWithinMs} ms`))
  }
}
