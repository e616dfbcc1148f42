import type { Channel, ConsumeMessage } from 'amqplib'
import type { Logger } from '../../engine/logger.ts'

/** A queue that can't be consumed, with the reason. */
export interface LostQueue {
  readonly name: string
  /** `unanswered`: the broker has the queue, but no leader for it. */
  readonly reason: 'deleted' | 'unanswered'
}

export interface QueueConsumersOptions {
  readonly logger: Logger
  readonly onMessage: (channel: Channel, message: ConsumeMessage, queue: string) => void
  /** The broker redelivers messages that were not acknowledged on the channel. */
  readonly onChannelClosed: (channel: Channel) => void
  /** Called repeatedly until `declared`. */
  readonly onLost: (queues: readonly LostQueue[]) => void
  /** A channel was closed and can be reopened. */
  readonly onReady: () => void
}

/** A queue and its channel. The channel stays open when its consumer is cancelled, because it has messages to acknowledge. */
interface Line {
  readonly opening: Promise<Channel>
  channel: Channel | null
  consumerTag: Promise<string> | null
}

/** The broker's reply code for consuming a queue that doesn't exist. */
const notFound = 404
/** A queue that lost its leader gets another within seconds. RabbitMQ waits for 65 s, and then closes the connection. */
const answerWithinMs = 15_000
const askAgainMs = 10_000
const reopenMs = 200

/**
 * The queues that a worker consumes, each on its own channel. The broker handles the calls of a channel one after the other, so a queue without a
 * leader (possible after the broker was killed) would block all others.
 */
export class QueueConsumers {
  readonly #options: QueueConsumersOptions
  readonly #lines = new Map<string, Line>()
  readonly #lost = new Map<string, LostQueue>()
  #open: (() => Promise<Channel>) | null = null
  #askTimer: NodeJS.Timeout | null = null

  constructor(options: QueueConsumersOptions) {
    this.#options = options
  }

  /** Whether there is a connection. */
  get isAttached(): boolean {
    return this.#open !== null
  }

  get isConsuming(): boolean {
    return [...this.#lines.values()].some(({ consumerTag }) => consumerTag !== null)
  }

  /** Whether messages of this channel can still be acknowledged. */
  isOpen(channel: Channel): boolean {
    return [...this.#lines.values()].some((line) => line.channel === channel)
  }

  /** Uses a new connection, on which `open` opens a channel. Retries the lost queues. */
  attach(open: () => Promise<Channel>): void {
    this.detach()
    this.#open = open
  }

  detach(): void {
    this.#open = null
    this.#lines.clear()
    this.declared()
  }

  /** The lost queues have been declared again. */
  declared(): void {
    this.#lost.clear()
    if (this.#askTimer !== null) clearInterval(this.#askTimer)
    this.#askTimer = null
  }

  /** Starts to consume these queues, except those that are consumed already. */
  consume(queues: readonly string[], prefetch: number): void {
    const open = this.#open
    if (open === null) return
    for (const queue of queues) {
      if (this.#lost.has(queue)) continue
      const line = this.#lines.get(queue) ?? this.#openLine(queue, open)
      line.consumerTag ??= this.#begin(queue, line, prefetch)
    }
  }

  /** Stops consuming. Delivered messages stay with their channel. Resolves when no more arrive. */
  async cancel(): Promise<void> {
    await Promise.all(
      [...this.#lines.values()].map(async (line) => {
        const { consumerTag, opening } = line
        line.consumerTag = null
        try {
          if (consumerTag !== null) await (await opening).cancel(await consumerTag)
        } catch {
          // The channel is closed; the broker redelivers its messages.
        }
      }),
    )
  }

  #openLine(queue: string, open: () => Promise<Channel>): Line {
    const line: Line = {
      channel: null,
      consumerTag: null,
      opening: open().then((channel) => {
        line.channel = channel
        channel.on('error', (error: unknown) => this.#close(queue, line, error))
        channel.on('close', () => this.#close(queue, line, null))
        return channel
      }),
    }
    line.opening.catch((error: unknown) => this.#close(queue, line, error))
    this.#lines.set(queue, line)
    return line
  }

  #begin(queue: string, line: Line, prefetch: number): Promise<string> {
    const timer = setTimeout(() => this.#giveUp(queue, line), answerWithinMs)
    timer.unref()
    const begun = this.#ask(queue, line, prefetch).finally(() => clearTimeout(timer))
    // A failure also closes the channel, whose handler reports it.
    begun.catch(() => {})
    return begun
  }

  async #ask(queue: string, line: Line, prefetch: number): Promise<string> {
    const channel = await line.opening
    await channel.prefetch(prefetch)
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (this.#lines.get(queue) !== line) return
      if (message !== null) return this.#options.onMessage(channel, message, queue)
      this.#close(queue, line, null)
      this.#lose({ name: queue, reason: 'deleted' })
    })
    return consumerTag
  }

  #giveUp(queue: string, line: Line): void {
    if (this.#lines.get(queue) !== line) return
    this.#lines.delete(queue)
    this.#lose({ name: queue, reason: 'unanswered' })
  }

  #close(queue: string, line: Line, error: unknown): void {
    if (this.#lines.get(queue) !== line) return
    this.#lines.delete(queue)
    if (line.channel !== null) this.#options.onChannelClosed(line.channel)
    if ((error as { readonly code?: unknown } | null)?.code === notFound)
      this.#lose({ name: queue, reason: 'deleted' })
    else setTimeout(() => this.#options.onReady(), reopenMs).unref()
  }

  #lose(queue: LostQueue): void {
    const { logger, onLost } = this.#options
    this.#lost.set(queue.name, queue)
    const what = queue.reason === 'deleted' ? 'was deleted' : 'does not answer'
    logger.warn(
      { queue: queue.name },
      `A queue of the worker ${what}; a node is asked to ${queue.reason === 'deleted' ? 'declare it' : 'replace it'}`,
    )
    onLost([queue])
    this.#askTimer ??= setInterval(() => onLost([...this.#lost.values()]), askAgainMs).unref()
  }
}
