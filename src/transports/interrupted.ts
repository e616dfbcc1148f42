import type { AttemptOutcome } from '../core/delivery/attempt.ts'

/** We stopped the attempt, so it says nothing about the receiver's health. */
export function abortedOutcome(endpoint: string, durationMs: number): AttemptOutcome {
  return {
    class: 'retryable',
    isHealthFailure: false,
    durationMs,
    error: {
      code: 'aborted',
      message: `The attempt to reach endpoint "${endpoint}" was stopped before it ended.`,
    },
  }
}

export function closedOutcome(endpoint: string): AttemptOutcome {
  return {
    class: 'retryable',
    isHealthFailure: false,
    durationMs: 0,
    error: {
      code: 'channel_closed',
      message: `The channel to endpoint "${endpoint}" is closed; the attempt was not made.`,
    },
  }
}
