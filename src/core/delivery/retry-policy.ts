export type RetryStrategy = 'exponential' | 'linear' | 'fixed' | 'schedule'
export type RetryJitter = 'none' | 'full' | 'equal'

/** When a failed delivery is tried again, and when no longer. */
export interface RetryPolicy {
  readonly strategy: RetryStrategy
  readonly baseDelayMs: number
  /** Caps exponential, linear and fixed delays. A schedule is honoured as written. */
  readonly maxDelayMs: number
  /** What each further retry adds with the `linear` strategy. */
  readonly incrementMs: number
  /** Tries after the first one. */
  readonly maxRetries: number
  readonly jitter: RetryJitter
  /** What has been owed this long is dead, whatever its retries. */
  readonly giveUpAfterMs: number
  /** The delays of the `schedule` strategy; empty with every other one. */
  readonly delaysMs: readonly number[]
}

/** A delay of zero would let a failing delivery spin, so each one is at least this. */
export const minRetryDelayMs = 1

/** 2^40 ms is 34 years, far over every cap: a greater exponent changes nothing and could only overflow. */
const maxExponent = 40

/**
 * How long to wait before retry number `retry` (1 is the first try after the first one). `random` gives [0, 1).
 *
 * @example retryDelayMs({ ...policy, strategy: 'exponential', baseDelayMs: 1000, jitter: 'none' }, 3, Math.random) // 4000
 */
export function retryDelayMs(policy: RetryPolicy, retry: number, random: () => number): number {
  const delayMs = plainDelayMs[policy.strategy](policy, Math.max(1, retry))
  return Math.max(minRetryDelayMs, Math.round(jittered[policy.jitter](delayMs, random)))
}

/** Whether the policy allows one more try after this many. */
export function mayRetry(policy: RetryPolicy, retriesUsed: number): boolean {
  return retriesUsed < policy.maxRetries
}

const plainDelayMs: Readonly<Record<RetryStrategy, (policy: RetryPolicy, retry: number) => number>> = {
  exponential: (policy, retry) =>
    Math.min(policy.baseDelayMs * 2 ** Math.min(retry - 1, maxExponent), policy.maxDelayMs),
  linear: (policy, retry) =>
    Math.min(policy.baseDelayMs + (retry - 1) * policy.incrementMs, policy.maxDelayMs),
  fixed: (policy) => Math.min(policy.baseDelayMs, policy.maxDelayMs),
  // The last delay repeats for the retries beyond the list.
  schedule: ({ delaysMs, baseDelayMs }, retry) =>
    delaysMs[Math.min(retry, delaysMs.length) - 1] ?? baseDelayMs,
}

const jittered: Readonly<Record<RetryJitter, (delayMs: number, random: () => number) => number>> = {
  none: (delayMs) => delayMs,
  full: (delayMs, random) => delayMs * random(),
  equal: (delayMs, random) => delayMs / 2 + (delayMs / 2) * random(),
}
