import type { Operation } from '../contract/operation.ts'

const baseDelayMs = 200
const maxDelayMs = 5000
/** If a server asks for a longer delay, the client doesn't retry: the caller decides. */
export const maxRetryAfterMs = 30_000

/** How an attempt failed. */
export type Failure =
  /** No response, or only a part: it is unknown whether the server executed the call. */
  | { readonly kind: 'network' }
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly code: string
      readonly retryAfterMs: number | null
    }

/**
 * How long to wait before the next attempt; null if a retry can't help or might execute the call twice. `repeat` counts from 0, `random` is from 0 to
 * 1.
 */
export function retryWaitMs(
  operation: Operation,
  failure: Failure,
  repeat: number,
  random: number,
): number | null {
  if (!mayRepeat(operation, failure)) return null
  const backoffMs = Math.min(maxDelayMs, baseDelayMs * 2 ** repeat)
  const jitteredMs = backoffMs / 2 + (random * backoffMs) / 2
  const askedMs = failure.kind === 'answer' ? (failure.retryAfterMs ?? 0) : 0
  if (askedMs > maxRetryAfterMs) return null
  // The requested delay is the minimum: jitter is added, so that many clients don't retry at once.
  return askedMs === 0 ? jitteredMs : askedMs + random * baseDelayMs
}

function mayRepeat(operation: Operation, failure: Failure): boolean {
  // Refused before anything was executed.
  if (failure.kind === 'answer' && failure.status === 429) return true
  if (!operation.isRepeatable) return false
  if (failure.kind === 'network') return true
  if (failure.code === 'idempotency_in_flight') return true
  // A gateway's response says nothing about the server behind it.
  if ([502, 503, 504].includes(failure.status)) return true
  return failure.status >= 500 && operation.method === 'GET'
}

/** Parses seconds, or an HTTP date. */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
