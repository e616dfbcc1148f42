import type { AttemptOutcome } from '../core/delivery/attempt.ts'

/** A transport that throws has a bug; its delivery is retried, and the lane continues. */
export function brokenTransport(error: unknown): AttemptOutcome {
  return {
    class: 'retryable',
    isHealthFailure: false,
    durationMs: 0,
    error: { code: 'transport_error', message: error instanceof Error ? error.message : String(error) },
  }
}
