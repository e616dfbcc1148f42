import { BrokerError } from './broker-connection.ts'

const replaceAfterMs = 1_000

/**
 * How long a connection's messages have been refused (basic.nack) without one that was confirmed. RabbitMQ 3.10 goes on to refuse all messages of a channel that published to a quorum queue
 * while the queue had no leader, also when it has one again: another connection is not refused.
 */
export class Refusals {
  #sinceMs: number | null = null

  confirmed(): void {
    this.#sinceMs = null
  }

  /** The error with which to replace the connection, if it is time. */
  refused(): BrokerError | null {
    const nowMs = performance.now()
    this.#sinceMs ??= nowMs
    if (nowMs - this.#sinceMs < replaceAfterMs) return null
    return new BrokerError('messages_refused', `the broker has refused all messages for ${replaceAfterMs} ms`)
  }
}

/** What amqplib says of a message that the broker refused; other errors are about the connection. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.message === 'message nacked'
}
