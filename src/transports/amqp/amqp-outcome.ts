import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { NetworkRefusal } from '../../network/network-refusal.ts'
import { harmlessText } from '../http/harmless-text.ts'
import { networkFailure } from '../http/network-error.ts'
import { BrokerError } from './amqp-connection.ts'

/** How long an endpoint is held when its broker takes nothing more. */
export const blockedRetryMs = 5_000

const maxReasonLength = 500

export function confirmedOutcome(durationMs: number): AttemptOutcome {
  return { class: 'success', isHealthFailure: false, durationMs }
}

export function returnedOutcome(durationMs: number, subject: string, reason: string): AttemptOutcome {
  return {
    class: 'permanent',
    isHealthFailure: false,
    durationMs,
    error: {
      code: 'unroutable',
      message: `${subject}: the broker returned the message, because it routes to no queue (${harmless(reason)}). Bind a queue, or correct the routing key; with "mandatory": false such messages count as delivered and are lost.`,
    },
  }
}

export function nackedOutcome(durationMs: number, subject: string): AttemptOutcome {
  return {
    class: 'retryable',
    isHealthFailure: true,
    durationMs,
    error: {
      code: 'nacked',
      message: `${subject}: the broker refused the message (basic.nack): a queue is full and rejects what is published, or the broker failed to store it.`,
    },
  }
}

export function timeoutOutcome(durationMs: number, subject: string, timeoutMs: number): AttemptOutcome {
  return {
    class: 'retryable',
    isHealthFailure: true,
    durationMs,
    error: {
      code: 'timeout',
      message: `${subject}: the broker did not confirm the message within ${timeoutMs} ms. It may have taken it all the same.`,
    },
  }
}

export function blockedOutcome(durationMs: number, subject: string, reason: string): AttemptOutcome {
  return {
    class: 'throttled',
    isHealthFailure: false,
    durationMs,
    retryAfterMs: blockedRetryMs,
    error: {
      code: 'broker_blocked',
      message: `${subject}: the broker takes no messages at the moment (connection.blocked: ${harmless(reason)}). See to its memory and its disk.`,
    },
  }
}

export function unusableOutcome(code: string, message: string): AttemptOutcome {
  return { class: 'permanent', isHealthFailure: false, durationMs: 0, error: { code, message } }
}

/** What a connection that failed or was closed means for everything unconfirmed on it. */
export function closedConnectionOutcome(error: unknown, subject: string, durationMs: number): AttemptOutcome {
  const code = brokerCodeOf(error)
  if (code === null || error instanceof NetworkRefusal) {
    const { class: attemptClass, isHealthFailure, error: said } = networkFailure(error, subject)
    return { class: attemptClass, isHealthFailure, durationMs, error: said }
  }
  const reason = harmless(error instanceof Error ? error.message : String(error))
  return {
    class: 'retryable',
    isHealthFailure: true,
    durationMs,
    error: { code, message: `${subject}: ${sentences[code] ?? ''}${reason}.` },
  }
}

const sentences: Readonly<Record<string, string>> = {
  access_refused:
    "the broker refuses this user; check user name, password, virtual host and the user's rights: ",
  exchange_missing: 'there is no such exchange; declare it on the broker first: ',
  vhost_refused: 'the broker refuses the virtual host; it is missing, or this user may not use it: ',
  channel_closed_by_broker: 'the broker closed the channel: ',
  connection_closed_by_broker: 'the broker closed the connection: ',
  protocol_error: 'the broker broke the protocol: ',
}

/** Null when it is no answer of a broker but a failure of the network. */
function brokerCodeOf(error: unknown): string | null {
  if (error instanceof BrokerError) return error.brokerCode
  const message = error instanceof Error ? error.message : String(error)
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown }
  if (typeof code === 'string') return null
  if (code === 403 || /ACCESS[_-]REFUSED/.test(message)) return 'access_refused'
  if (/ConnectionOpenOk; got <ConnectionClose/.test(message)) return 'vhost_refused'
  if (code === 404) return 'exchange_missing'
  if (typeof code === 'number')
    return message.startsWith('Channel closed') ? 'channel_closed_by_broker' : 'connection_closed_by_broker'
  if (/^(?:Unexpected close|Socket closed abruptly|Heartbeat timeout)/.test(message))
    return 'connection_reset'
  return 'protocol_error'
}

function harmless(text: string): string {
  return harmlessText(text).slice(0, maxReasonLength)
}
