import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { maxRetryAfterMs } from '../../core/delivery/retry-after.ts'
import { PermanentError, RetryAfterError } from './handler.ts'

const maxMessageCharacters = 2_000

/** A thrown error is a failure of the receiver, like a 5xx: it counts against the circuit unless the error says otherwise. */
export function handlerFailureOutcome(
  handlerName: string,
  thrown: unknown,
  durationMs: number,
): AttemptOutcome {
  const error = {
    code: 'handler_error',
    message: `Handler "${handlerName}" threw ${describe(thrown)}`.slice(0, maxMessageCharacters),
  }
  if (thrown instanceof PermanentError)
    return { class: 'permanent', isHealthFailure: false, durationMs, error }
  if (thrown instanceof RetryAfterError) {
    const retryAfterMs = boundRetryAfter(thrown.retryAfterMs)
    return { class: 'throttled', isHealthFailure: false, durationMs, error, ...retryAfterMs }
  }
  return { class: 'retryable', isHealthFailure: true, durationMs, error }
}

export function handlerTimeoutOutcome(
  handlerName: string,
  timeoutMs: number,
  durationMs: number,
): AttemptOutcome {
  return {
    class: 'retryable',
    isHealthFailure: true,
    durationMs,
    error: { code: 'timeout', message: `Handler "${handlerName}" did not finish within ${timeoutMs} ms.` },
  }
}

/** Counts against the circuit, so that a node without the handler keeps the backlog and uses up no attempts. */
export function handlerMissingOutcome(handlerName: string): AttemptOutcome {
  return {
    class: 'retryable',
    isHealthFailure: true,
    durationMs: 0,
    error: {
      code: 'handler_missing',
      message: `No handler "${handlerName}" is registered in this process. Register it before the node starts.`,
    },
  }
}

function describe(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  } catch {
    // A thrown object may have a throwing toString; an outcome is needed anyway.
    return 'a value that can not be shown'
  }
}

function boundRetryAfter(retryAfterMs: number): { retryAfterMs?: number } {
  if (!Number.isFinite(retryAfterMs)) return {}
  return { retryAfterMs: Math.min(Math.max(0, Math.round(retryAfterMs)), maxRetryAfterMs) }
}
