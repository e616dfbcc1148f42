import { BrokerError } from './broker-connection.ts'

const replaceAfterMs = 1_000

/**
 * How long a connection's messages have all been refused (basic.nack). RabbitMQ 3.10 keeps refusing all messages of a channel that published to a
 * quorum queue while the queue had no leader, even after it has one again; a new connection is not refused.
 */
export class Refusals {
  #sinceMs: number | null = null

  confirmed(): void {
    this.#sinceMs = null
  }

  /** The error with which to replace the connection; null if it isn't time yet. */
  refused(): BrokerError | null {
    const nowMs = performance.now()
    this.#sinceMs ??= nowMs
    if (nowMs - this.#sinceMs < replaceAfterMs) return null
    return new BrokerError('messages_refused', `the broker has refused all messages for ${replaceAfterMs} ms`)
  }
}

/** Recognises amqplib's error for a message that the broker refused; other errors concern the connection. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.message === 'message nacked'
}
