import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { bucketCount, bucketOf } from '../../core/duration-buckets.ts'
import type { SiteRollupRow } from '../../storage/rollups.ts'
import type { Delivery } from '../delivery.ts'

const minuteSeconds = 60
/** Each flush adds to a minute, to a quarter of an hour and to an hour. */
const steps = [minuteSeconds, 900, 3600] as const
/** While nothing can be written, the oldest minutes are dropped: a day of them is kept. */
const maxMinutes = 1440

interface Counts {
  attempts: number
  successes: number
  throttled: number
  readonly latencies: Uint32Array
}

/** Adds up the attempts of this node per minute, over all endpoints: an attempt costs a few additions. */
export class SiteCounter {
  #minutes = new Map<number, Counts>()
  #latestMinute = Number.NaN
  #latest: Counts | null = null

  attempted(delivery: Delivery, outcome: AttemptOutcome, nowMs: number): void {
    const counts = this.#countsOf(Math.floor(nowMs / 60_000))
    counts.attempts += 1
    if (outcome.class === 'success') {
      counts.successes += 1
      const bucket = bucketOf(nowMs - delivery.awaitedSinceMs)
      counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + 1
    } else if (outcome.class === 'throttled') counts.throttled += 1
  }

  get isEmpty(): boolean {
    return this.#minutes.size === 0
  }

  /** Returns and removes the counts, per step. */
  take(): SiteRollupRow[] {
    const sums = new Map<string, SiteRollupRow & Counts>()
    for (const [minute, counts] of this.#minutes) {
      for (const stepSeconds of steps) {
        const start = Math.floor((minute * minuteSeconds) / stepSeconds) * stepSeconds
        const key = `${stepSeconds}:${start}`
        const sum = sums.get(key) ?? { stepSeconds, startsAtMs: start * 1000, ...emptyCounts() }
        sums.set(key, sum)
        add(sum, counts)
      }
    }
    this.#minutes = new Map()
    this.#latest = null
    return [...sums.values()].map((sum) => ({ ...sum, latencies: used(sum.latencies) }))
  }

  #countsOf(minute: number): Counts {
    if (this.#latest !== null && this.#latestMinute === minute) return this.#latest
    let counts = this.#minutes.get(minute)
    if (counts === undefined) {
      const [oldest] = this.#minutes.keys()
      if (this.#minutes.size >= maxMinutes && oldest !== undefined) this.#minutes.delete(oldest)
      counts = emptyCounts()
      this.#minutes.set(minute, counts)
    }
    this.#latest = counts
    this.#latestMinute = minute
    return counts
  }
}

function emptyCounts(): Counts {
  return { attempts: 0, successes: 0, throttled: 0, latencies: new Uint32Array(bucketCount) }
}

function add(sum: Counts, more: Counts): void {
  sum.attempts += more.attempts
  sum.successes += more.successes
  sum.throttled += more.throttled
  for (const [bucket, count] of more.latencies.entries())
    sum.latencies[bucket] = (sum.latencies[bucket] ?? 0) + count
}

function used(counts: Uint32Array): number[] {
  return [...counts.subarray(0, counts.findLastIndex((count) => count > 0) + 1)]
}
