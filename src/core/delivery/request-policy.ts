/** How `request()` tries again while its caller waits. */
export interface RequestPolicy {
  readonly maxRetries: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  /** `none`: delays are exact; `equal`: half of each is random; `full`: all of it. */
  readonly jitter: 'none' | 'full' | 'equal'
  /** For all tries together. */
  readonly deadlineMs: number
  /** HTTP statuses to try again on, besides transport errors. */
  readonly retryOn: readonly number[]
}

/** The delay before the next try, after so many of them. `random` is from 0 to 1. */
export function requestDelayMs(policy: RequestPolicy, tries: number, random: () => number): number {
  const delayMs = Math.min(policy.baseDelayMs * 2 ** (tries - 1), policy.maxDelayMs)
  if (policy.jitter === 'none') return delayMs
  return policy.jitter === 'full' ? delayMs * random() : delayMs * (0.5 + random() / 2)
}
