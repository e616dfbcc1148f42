import { z } from 'zod'
import { quantileMs } from '../core/duration-buckets.ts'
import { HoldfastError } from '../core/errors.ts'
import { field } from '../core/field.ts'
import { type BacklogStep, readBacklog } from '../storage/backlogs.ts'
import type { Database } from '../storage/database.ts'
import {
  type RollupSum,
  type SiteRollupSum,
  sumRollupsOf,
  sumRollupsOfAll,
  sumSiteRollups,
} from '../storage/rollups.ts'
import { checkedFilter, onDatabase } from './page.ts'

const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000

/** Windows: their length, the rollups that they use, and the steps of the series. */
const windows = {
  '1h': { period: 1, siteStepSeconds: 60, lengthMs: hourMs, stepMs: minuteMs },
  '3h': { period: 1, siteStepSeconds: 60, lengthMs: 3 * hourMs, stepMs: 3 * minuteMs },
  '24h': { period: 1, siteStepSeconds: 900, lengthMs: dayMs, stepMs: 15 * minuteMs },
  '7d': { period: 2, siteStepSeconds: 3600, lengthMs: 7 * dayMs, stepMs: hourMs },
  '30d': { period: 2, siteStepSeconds: 3600, lengthMs: 30 * dayMs, stepMs: 6 * hourMs },
} as const

export type StatisticsWindow = keyof typeof windows

export interface Latency {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export interface StatisticsSum {
  readonly attempts: number
  readonly successes: number
  /** Share of attempts, without throttled ones; null if there were none. */
  readonly successRate: number | null
  /** Duration of attempts. */
  readonly latencyMs: Latency
  readonly attemptsPerSecond: number
  /** Count of each status code or, without one, of each error code; `ok` for a handler that returned. */
  readonly answers: Readonly<Record<string, number>>
}

export interface EndpointStatistics extends StatisticsSum {
  readonly endpoint: string
  readonly window: StatisticsWindow
  readonly series: readonly {
    readonly at: Date
    readonly attempts: number
    readonly successes: number
    readonly latencyMs: Latency
  }[]
  /** The largest number of undelivered messages in each step, sampled once a minute; steps without a sample are left out. */
  readonly backlog: readonly BacklogStep[]
}

export interface SiteStep {
  readonly at: Date
  /** Events accepted; null while they are not counted yet. */
  readonly accepted: number | null
  readonly delivered: number
  /** Number of failed attempts. Throttled attempts do not count as failures. */
  readonly failed: number
  /** The largest number of pending deliveries, sampled once a minute; null without a sample. */
  readonly backlog: number | null
  readonly latencyMs: Latency
}

/** Statistics of the whole installation. */
export interface SiteStatistics {
  readonly window: StatisticsWindow
  readonly stepMs: number
  readonly accepted: number
  readonly delivered: number
  readonly failed: number
  /** Time from acceptance, or from the due time, to delivery. */
  readonly latencyMs: Latency
  /** Oldest first, without gaps from the first step that has data. */
  readonly series: readonly SiteStep[]
}

const statisticsQuery = z.strictObject({
  window: field.oneOf(...(Object.keys(windows) as [StatisticsWindow, ...StatisticsWindow[]])).default('24h'),
})
const overviewQuery = statisticsQuery.extend({ limit: field.wholeNumber(1, 1000).default(100) })

/** Statistics of endpoints, from counts that are kept longer than the attempts. A few seconds behind. */
export class Statistics {
  readonly #database: () => Database

  constructor(options: { readonly database: () => Database }) {
    this.#database = options.database
  }

  async endpoint(name: string, query: z.input<typeof statisticsQuery> = {}): Promise<EndpointStatistics> {
    const { window } = checkedFilter(statisticsQuery, query)
    const { lengthMs } = windows[window]
    const [sums, backlog] = await onDatabase(this.#database(), (database) =>
      Promise.all([
        sumRollupsOf(database, name, windows[window]),
        readBacklog(database, name, windows[window]),
      ]),
    )
    if (sums === undefined) {
      throw new HoldfastError(
        'endpoint_not_found',
        `There is no endpoint named "${name}". List them with: holdfast endpoints list`,
        {
          endpoint: name,
        },
      )
    }
    return {
      endpoint: name,
      window,
      ...summarise(sums, lengthMs),
      series: sums.map((sum) => ({
        at: sum.startsAt,
        attempts: sum.attempts,
        successes: sum.successes,
        latencyMs: latencyOf(sum.durations),
      })),
      backlog,
    }
  }

  /**
   * Statistics of the whole installation: accepted, delivered, failed, latency and backlog over a window.
   *
   * @example (await holdfast.statistics.site({ window: '3h' })).series.at(-1)?.backlog
   */
  async site(query: z.input<typeof statisticsQuery> = {}): Promise<SiteStatistics> {
    const { window } = checkedFilter(statisticsQuery, query)
    const { stepMs } = windows[window]
    const sums = await onDatabase(this.#database(), (database) => sumSiteRollups(database, windows[window]))
    const latencies: number[] = []
    for (const sum of sums) addBuckets(latencies, sum.latencies)
    const series = withoutGaps(sums, stepMs).map(toStep)
    const total = (of: (step: SiteStep) => number | null): number =>
      series.reduce((sum, step) => sum + (of(step) ?? 0), 0)
    return {
      window,
      stepMs,
      accepted: total(({ accepted }) => accepted),
      delivered: total(({ delivered }) => delivered),
      failed: total(({ failed }) => failed),
      latencyMs: latencyOf(latencies),
      series,
    }
  }

  /** Busiest endpoints first. */
  async endpoints(
    query: z.input<typeof overviewQuery> = {},
  ): Promise<(StatisticsSum & { readonly endpoint: string })[]> {
    const { window, limit } = checkedFilter(overviewQuery, query)
    const { lengthMs } = windows[window]
    const sums = await onDatabase(this.#database(), (database) =>
      sumRollupsOfAll(database, windows[window], limit),
    )
    return sums.map((sum) => ({ endpoint: sum.endpoint, ...summarise([sum], lengthMs) }))
  }
}

function summarise(sums: readonly RollupSum[], lengthMs: number): StatisticsSum {
  let attempts = 0
  let successes = 0
  let throttled = 0
  const durations: number[] = []
  const answers: Record<string, number> = {}
  for (const sum of sums) {
    attempts += sum.attempts
    successes += sum.successes
    throttled += sum.throttled
    addBuckets(durations, sum.durations)
    for (const [answer, count] of Object.entries(sum.answers))
      answers[answer] = (answers[answer] ?? 0) + count
  }
  return {
    attempts,
    successes,
    successRate: attempts === throttled ? null : successes / (attempts - throttled),
    latencyMs: latencyOf(durations),
    attemptsPerSecond: attempts / (lengthMs / 1000),
    answers,
  }
}

function toStep(sum: SiteRollupSum): SiteStep {
  return {
    at: sum.startsAt,
    accepted: sum.accepted,
    delivered: sum.successes,
    failed: sum.attempts - sum.successes - sum.throttled,
    backlog: sum.backlog,
    latencyMs: latencyOf(sum.latencies),
  }
}

/** Fills in steps without counts as steps without attempts. */
function withoutGaps(sums: readonly SiteRollupSum[], stepMs: number): SiteRollupSum[] {
  const filled: SiteRollupSum[] = []
  for (const sum of sums) {
    for (let before = filled.at(-1); before !== undefined; before = filled.at(-1)) {
      const startsAt = new Date(before.startsAt.getTime() + stepMs)
      if (startsAt >= sum.startsAt) break
      const nothing = {
        accepted: null,
        backlog: null,
        attempts: 0,
        successes: 0,
        throttled: 0,
        latencies: [],
      }
      filled.push({ startsAt, ...nothing })
    }
    filled.push(sum)
  }
  return filled
}

function addBuckets(sum: number[], more: readonly number[]): void {
  for (const [bucket, count] of more.entries()) sum[bucket] = (sum[bucket] ?? 0) + count
}

function latencyOf(durations: readonly number[]): Latency {
  const at = (share: number) => {
    const exact = quantileMs(durations, share)
    return exact === null ? null : Math.round(exact * 10) / 10
  }
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
