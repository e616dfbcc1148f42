import type { AttemptClass } from './attempt.ts'

/** An endpoint's own classification of statuses: an exact one (`409`) or a hundred (`4xx`); the exact one wins. */
export type ClassifyOverrides = Readonly<Record<string, AttemptClass>>

/**
 * The outcome class of an HTTP answer. Statuses that can't end an attempt (1xx, or outside 100–599) are retryable: something
 * between this process and the receiver violated the protocol, which says nothing about the message.
 *
 * @example classifyHttpStatus(409, false, { '409': 'success' }) // 'success'
 */
export function classifyHttpStatus(
  status: number,
  hasRetryAfter: boolean,
  overrides?: ClassifyOverrides,
): AttemptClass {
  if (overrides !== undefined) {
    const override = overrides[String(status)] ?? overrides[`${Math.floor(status / 100)}xx`]
    if (override !== undefined) return override
  }
  if (status >= 200 && status < 300) return 'success'
  if (status === 429 || (status === 503 && hasRetryAfter)) return 'throttled'
  if (status === 410) return 'gone'
  if (status === 408 || status === 425) return 'retryable'
  if (status >= 300 && status < 500) return 'permanent'
  return 'retryable'
}

/**
 * Whether the status shows that the receiver is unavailable. Only 5xx: any other answer comes from a receiver that works.
 * The circuit counts it only if the attempt is retryable too, so an override or a throttle excludes it.
 */
export function isHealthFailureStatus(status: number): boolean {
  return status >= 500 && status < 600
}
