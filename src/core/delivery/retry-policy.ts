export type RetryStrategy = keyof typeof strategies
export type RetryJitter = keyof typeof jittered

/** When a failed delivery is retried, and when no longer. */
export interface RetryPolicy {
  readonly strategy: RetryStrategy
  readonly baseDelayMs: number
  /** Limits exponential, linear and fixed delays. A schedule is used as written. */
  readonly maxDelayMs: number
  /** What each further retry adds with the `linear` strategy. */
  readonly incrementMs: number
  /** Number of attempts after the first one. */
  readonly maxRetries: number
  readonly jitter: RetryJitter
  /** A delivery that has been pending this long becomes a dead letter, whatever its retries. */
  readonly giveUpAfterMs: number
  /** The delays of the `schedule` strategy; empty with every other one. */
  readonly delaysMs: readonly number[]
}

/** A delay of zero would let a failing delivery spin, so each one is at least this. */
export const minRetryDelayMs = 1

/** 2^40 ms is 34 years, far over every cap: a greater exponent changes nothing and could only overflow. */
const maxExponent = 40

/**
 * How long to wait before retry number `retry` (1 is the first retry). `random` returns [0, 1).
 *
 * @example retryDelayMs({ ...policy, strategy: 'exponential', baseDelayMs: 1000, jitter: 'none' }, 3, Math.random) // 4000
 */
export function retryDelayMs(policy: RetryPolicy, retry: number, random: () => number): number {
  const delayMs = strategies[policy.strategy](policy, Math.max(1, retry))
  return Math.max(minRetryDelayMs, Math.round(jittered[policy.jitter](delayMs, random)))
}

/** Whether the policy allows one more attempt after this many. */
export function mayRetry(policy: RetryPolicy, retriesUsed: number): boolean {
  return retriesUsed < policy.maxRetries
}

type StrategyRule = (policy: StrategyNumbers, retry: number) => number
type StrategyNumbers = Pick<RetryPolicy, 'baseDelayMs' | 'maxDelayMs' | 'incrementMs' | 'delaysMs'>
type JitterRule = (delayMs: number, random: () => number) => number

/** The delay before retry number `retry`, without jitter. The API, SQL and the forms read the names from here. */
const strategies = {
  exponential: (policy, retry) =>
    Math.min(policy.baseDelayMs * 2 ** Math.min(retry - 1, maxExponent), policy.maxDelayMs),
  linear: (policy, retry) =>
    Math.min(policy.baseDelayMs + (retry - 1) * policy.incrementMs, policy.maxDelayMs),
  fixed: (policy) => Math.min(policy.baseDelayMs, policy.maxDelayMs),
  // The last delay repeats for the retries beyond the list.
  schedule: ({ delaysMs, baseDelayMs }, retry) =>
    delaysMs[Math.min(retry, delaysMs.length) - 1] ?? baseDelayMs,
} satisfies Record<string, StrategyRule>

const jittered = {
  none: (delayMs) => delayMs,
  full: (delayMs, random) => delayMs * random(),
  equal: (delayMs, random) => delayMs / 2 + (delayMs / 2) * random(),
} satisfies Record<string, JitterRule>

export const retryStrategies = Object.keys(strategies) as [RetryStrategy, ...RetryStrategy[]]
export const retryJitters = Object.keys(jittered) as [RetryJitter, ...RetryJitter[]]
