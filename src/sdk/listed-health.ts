import { quantileMs } from '../core/duration-buckets.ts'
import type { EndpointHealth, HealthRecord } from '../storage/endpoint-health.ts'

export interface EndpointHealthQuery {
  readonly afterName?: string | undefined
  readonly limit?: number | undefined
  /** Part of the name. */
  readonly nameHas?: string | undefined
  readonly tag?: string | undefined
  readonly state?: 'active' | 'paused' | 'rejecting' | 'disabled' | undefined
  /** Only endpoints that are paused, disabled, rejecting or held, or whose circuit is not closed. */
  readonly isTroubled?: boolean | undefined
}

export interface ListedEndpointHealth extends EndpointHealth {
  readonly name: string
  readonly url: string | null
  readonly tags: readonly string[]
  readonly concurrency: number
  /** Over the last 24 hours, like the other values; null if there were no attempts. */
  readonly successRate: number | null
  readonly p95Ms: number | null
  readonly series: readonly { readonly at: Date; readonly attempts: number; readonly successes: number }[]
}

/** Aggregates the hours of a day. */
export function toListedHealth({ steps, ...health }: HealthRecord): ListedEndpointHealth {
  let counted = 0
  let successes = 0
  const durations: number[] = []
  for (const step of steps) {
    counted += step.attempts - step.throttled
    successes += step.successes
    for (const [bucket, count] of step.durations.entries())
      durations[bucket] = (durations[bucket] ?? 0) + count
  }
  const p95 = quantileMs(durations, 0.95)
  return {
    ...health,
    successRate: counted === 0 ? null : successes / counted,
    p95Ms: p95 === null ? null : Math.round(p95 * 10) / 10,
    series: steps.map(({ startsAt, attempts, successes }) => ({
      at: new Date(startsAt),
      attempts,
      successes,
    })),
  }
}
