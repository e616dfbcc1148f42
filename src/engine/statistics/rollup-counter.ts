import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { bucketCount, bucketOf } from '../../core/duration-buckets.ts'
import type { RollupRow } from '../../storage/rollups.ts'
import type { Delivery } from '../delivery.ts'

const minuteMs = 60_000
const hourMs = 3_600_000
const minutePeriod = 1
const hourPeriod = 2
/** Distinct answers counted per lane and minute; the rest count as "other". */
const maxAnswers = 32

/** Limit of lanes × minutes that wait to be written. */
const maxFinished = 50_000

interface LaneMinute {
  readonly laneId: number
  readonly minute: number
  attempts: number
  successes: number
  throttled: number
  readonly durations: Uint32Array
  readonly answers: Map<number | string, Answer>
  /** The entry of the last attempt; usually the next attempt has the same one. */
  latest: Answer | null
}

interface Answer {
  readonly answer: number | string
  count: number
}

/**
 * Adds up attempts per lane and minute, in memory. It is an observer of the engine: an attempt costs a few
 * additions. Every few seconds `take` returns the counts to write.
 */
export class RollupCounter {
  #counts = new Map<number, LaneMinute>()
  /** Entries of earlier minutes. */
  #finished: LaneMinute[] = []
  #latest: LaneMinute | null = null

  attempted(delivery: Delivery, outcome: AttemptOutcome, nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs)
    const counted = this.#minuteOf(delivery.lane.id, minute)
    counted.attempts += 1
    if (outcome.class === 'success') counted.successes += 1
    else if (outcome.class === 'throttled') counted.throttled += 1
    const bucket = bucketOf(outcome.durationMs)
    counted.durations[bucket] = (counted.durations[bucket] ?? 0) + 1
    const answer = outcome.statusCode ?? outcome.error?.code ?? 'ok'
    if (counted.latest?.answer === answer) counted.latest.count += 1
    else countAnswer(counted, answer, 1)
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0 && this.#finished.length === 0
  }

  /** Returns and removes up to this many entries, the oldest first, with the hours that they add to. */
  take(maxMinutes: number): RollupRow[] {
    const all = [...this.#finished, ...this.#counts.values()]
    const taken = all.slice(0, maxMinutes)
    this.#finished = all.slice(maxMinutes)
    this.#counts = new Map()
    this.#latest = null
    const hours = new Map<string, LaneMinute>()
    for (const minute of taken) {
      const hour = Math.floor((minute.minute * minuteMs) / hourMs)
      const key = `${minute.laneId}:${hour}`
      const known = hours.get(key) ?? emptyCount(minute.laneId, hour)
      hours.set(key, known)
      add(known, minute)
    }
    return [
      ...taken.map((count) => toRow(count, minutePeriod, minuteMs)),
      ...[...hours.values()].map((count) => toRow(count, hourPeriod, hourMs)),
    ]
  }

  /** While nothing can be written, the oldest counts are dropped. */
  #finish(counted: LaneMinute): void {
    if (this.#finished.length >= maxFinished) this.#finished.splice(0, maxFinished / 2)
    this.#finished.push(counted)
  }

  #minuteOf(laneId: number, minute: number): LaneMinute {
    // Under load, consecutive attempts usually belong to the same lane.
    if (this.#latest?.laneId === laneId && this.#latest.minute === minute) return this.#latest
    let counted = this.#counts.get(laneId)
    if (counted === undefined || counted.minute !== minute) {
      if (counted !== undefined) this.#finish(counted)
      counted = emptyCount(laneId, minute)
      this.#counts.set(laneId, counted)
    }
    this.#latest = counted
    return counted
  }
}

function emptyCount(laneId: number, minute: number): LaneMinute {
  return {
    laneId,
    minute,
    attempts: 0,
    successes: 0,
    throttled: 0,
    durations: new Uint32Array(bucketCount),
    answers: new Map(),
    latest: null,
  }
}

function countAnswer(counted: LaneMinute, answer: number | string, count: number): void {
  const { answers } = counted
  const key = answers.has(answer) || answers.size < maxAnswers ? answer : 'other'
  const known = answers.get(key) ?? { answer: key, count: 0 }
  known.count += count
  answers.set(key, known)
  counted.latest = known
}

function add(sum: LaneMinute, more: LaneMinute): void {
  sum.attempts += more.attempts
  sum.successes += more.successes
  sum.throttled += more.throttled
  for (const [bucket, count] of more.durations.entries())
    sum.durations[bucket] = (sum.durations[bucket] ?? 0) + count
  for (const { answer, count } of more.answers.values()) countAnswer(sum, answer, count)
}

function toRow(count: LaneMinute, period: number, lengthMs: number): RollupRow {
  const used = count.durations.findLastIndex((each) => each > 0) + 1
  return {
    lane: count.laneId,
    period,
    startsAtMs: count.minute * lengthMs,
    attempts: count.attempts,
    successes: count.successes,
    throttled: count.throttled,
    durations: [...count.durations.subarray(0, used)],
    answers: Object.fromEntries([...count.answers.values()].map((each) => [each.answer, each.count])),
  }
}
