import type { RetryJitter, RetryStrategy } from '../delivery/retry-policy.ts'

/** When failed deliveries are retried. */
export interface RetryInput {
  /** How delays grow: `exponential` (default), `linear`, `fixed`, or your own `schedule`. */
  readonly strategy?: RetryStrategy | undefined
  /** The delay before the first retry, in milliseconds. */
  readonly baseDelayMs?: number | undefined
  /** The longest delay, in milliseconds. */
  readonly maxDelayMs?: number | undefined
  /** The increment of `linear`, in milliseconds. */
  readonly incrementMs?: number | undefined
  /** Number of attempts after the first. */
  readonly maxRetries?: number | undefined
  /** How delays are spread: `full` (default), `equal` or `none`. */
  readonly jitter?: RetryJitter | undefined
  /** After this time, in milliseconds from acceptance, an undelivered message becomes a dead letter. Pauses do not count. */
  readonly giveUpAfterMs?: number | undefined
  /** The delays of `schedule`, in milliseconds. */
  readonly delaysMs?: readonly number[] | undefined
}

/** How `request()` retries while its caller waits. */
export interface RequestPolicyInput {
  /** Number of attempts after the first. */
  readonly maxRetries?: number | undefined
  /** The delay before the first retry, in milliseconds. */
  readonly baseDelayMs?: number | undefined
  /** The longest delay, in milliseconds. */
  readonly maxDelayMs?: number | undefined
  /** How delays are spread: `full` (default), `equal`, or `none` for exact ones. */
  readonly jitter?: RetryJitter | undefined
  /** Deadline for all attempts together, in milliseconds. */
  readonly deadlineMs?: number | undefined
  /** HTTP statuses to retry on, in addition to network failures. */
  readonly retryOn?: readonly number[] | undefined
}

/** When the circuit opens, and for how long. */
export interface CircuitInput {
  /** Number of health failures in a row that open the circuit. */
  readonly threshold?: number | undefined
  /** How long the circuit stays open before a probe is sent, in milliseconds. */
  readonly cooldownMs?: number | undefined
}

/** How much an endpoint takes. */
export interface LimitsInput {
  /** Maximum number of attempts in flight, over all nodes. */
  readonly concurrency?: number | undefined
  /** Maximum number of attempts per second, over all nodes; null: no limit. */
  readonly ratePerSecond?: number | null | undefined
  /** Maximum number of pending deliveries. */
  readonly maxPending?: number | undefined
  /** What happens beyond that: the message becomes a dead letter at once (default), or the publish is rejected. */
  readonly onFull?: 'dead_letter' | 'reject' | undefined
}

/** When an endpoint disables itself. */
export interface AutoDisableInput {
  /** Whether to disable the endpoint when the receiver answers 410. */
  readonly onGone?: boolean | undefined
  /** Number of failures in a row within the window that disable it; null: never. */
  readonly threshold?: number | null | undefined
  /** The window, in milliseconds. */
  readonly windowMs?: number | undefined
  /** Time until it is enabled again, in milliseconds; null: only manually. */
  readonly reenableAfterMs?: number | null | undefined
}

/** Several messages per request. */
export interface BatchInput {
  /** Maximum number of messages in a batch. */
  readonly maxMessages: number
  /** Maximum size of the rendered messages in a batch, in bytes; null: no limit. */
  readonly maxBytes?: number | null | undefined
  /** How long the first message may wait for others, in milliseconds. */
  readonly maxWaitMs?: number | undefined
}
