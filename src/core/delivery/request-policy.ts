/** How `request()` retries while its caller waits. */
export interface RequestPolicy {
  readonly maxRetries: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  /** `none`: delays are exact; `equal`: half of each is random; `full`: all of it. */
  readonly jitter: 'none' | 'full' | 'equal'
  /** For all attempts together. */
  readonly deadlineMs: number
  /** HTTP statuses to retry on, in addition to transport errors. */
  readonly retryOn: readonly number[]
}

/** The delay before the next attempt, after this many. `random` is from 0 to 1. */
export function requestDelayMs(policy: RequestPolicy, tries: number, random: () => number): number {
  const delayMs = Math.min(policy.baseDelayMs * 2 ** (tries - 1), policy.maxDelayMs)
  if (policy.jitter === 'none') return delayMs
  return policy.jitter === 'full' ? delayMs * random() : delayMs * (0.5 + random() / 2)
}
