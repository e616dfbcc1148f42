import { brokerFailure } from '../../amqp/broker-failure.ts'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { NetworkRefusal } from '../../network/network-refusal.ts'
import { harmlessText } from '../http/harmless-text.ts'
import { networkFailure } from '../http/network-error.ts'

/** How long an endpoint is held if its broker accepts no messages. */
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

/** The outcome of all unconfirmed messages on a connection that failed or was closed. */
export function closedConnectionOutcome(error: unknown, subject: string, durationMs: number): AttemptOutcome {
  const failure = error instanceof NetworkRefusal ? null : brokerFailure(error, 'exchange')
  if (failure === null) {
    const { class: attemptClass, isHealthFailure, error: said } = networkFailure(error, subject)
    return { class: attemptClass, isHealthFailure, durationMs, error: said }
  }
  const message = `${subject}: ${failure.sentence}${harmless(failure.reason)}.`
  return { class: 'retryable', isHealthFailure: true, durationMs, error: { code: failure.code, message } }
}

function harmless(text: string): string {
  return harmlessText(text).slice(0, maxReasonLength)
}
