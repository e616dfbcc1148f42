import { CronTimes } from '../core/jobs/cron-times.ts'
import { problemOfTimeZone } from '../core/jobs/time-zone.ts'

/** The times of a schedule: exactly one of `cron`, an interval, or a single time. */
export interface ScheduleRule {
  readonly cron: string | null
  readonly timezone: string
  readonly everyMs: number | null
  readonly runAt: Date | null
}

export type CatchUp = 'one' | 'all' | 'none'

/** With catch-up `none`, a fire that is late by more than this is skipped. */
export const missedAfterMs = 60_000
/** Maximum of missed fires that `all` repeats at once; later rounds repeat the rest. */
export const maxCaughtUp = 1000

/** The problem of a rule as a sentence; null if it is valid. */
export function problemOfRule(rule: ScheduleRule): string | null {
  const zoneProblem = problemOfTimeZone(rule.timezone)
  if (zoneProblem !== null || rule.cron === null) return zoneProblem
  try {
    const times = new CronTimes(rule.cron, rule.timezone)
    return times.next(new Date()) === null ? `"${rule.cron}" never matches a time` : null
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    return `"${rule.cron}" is not a cron expression, like 0 3 * * *: ${reason}`
  }
}

/** The first fire strictly after a time; null: never again. */
type NextFire = (after: Date) => Date | null

function firesOf({ runAt, everyMs, cron, timezone }: ScheduleRule): NextFire {
  if (runAt !== null) return (after) => (runAt > after ? runAt : null)
  if (everyMs !== null) return (after) => new Date(after.getTime() + everyMs)
  if (cron === null) return () => null
  const times = new CronTimes(cron, timezone)
  return (after) => times.next(after)
}

/** The first fire strictly after `after`; null: never again. */
export function nextFire(rule: ScheduleRule, after: Date): Date | null {
  return firesOf(rule)(after)
}

/** The next fires, for a preview. */
export function nextFires(rule: ScheduleRule, after: Date, count: number): Date[] {
  const nextAfter = firesOf(rule)
  const fires: Date[] = []
  for (let next = nextAfter(after); next !== null && fires.length < count; next = nextAfter(next)) {
    fires.push(next)
  }
  return fires
}

export interface Firing {
  /** The fires to run now. */
  readonly times: readonly Date[]
  /** When to fire next; null: never again. */
  readonly next: Date | null
}

/**
 * Which fires to run of a schedule whose next fire was `expected`, and which is due at `now`. After a downtime `one` runs the latest missed fire,
 * `all` runs each of them, `none` runs none.
 */
export function dueFires(rule: ScheduleRule, catchUp: CatchUp, expected: Date, now: Date): Firing {
  if (rule.runAt !== null) return { times: [expected], next: null }
  if (rule.everyMs !== null) return dueIntervals(rule.everyMs, catchUp, expected, now)
  const nextAfter = firesOf(rule)
  const ticks: Date[] = [expected]
  let next = nextAfter(expected)
  while (next !== null && next <= now) {
    if (catchUp === 'all') {
      if (ticks.length >= maxCaughtUp) return { times: ticks, next }
      ticks.push(next)
    } else {
      ticks[0] = next
      // Skip ahead: thousands of missed fires needn't be computed one by one to find the last few.
      if (now.getTime() - next.getTime() > missedAfterMs) {
        const skipTo = new Date(now.getTime() - missedAfterMs)
        const beyond = nextAfter(skipTo)
        if (beyond !== null && beyond <= now) {
          next = beyond
          continue
        }
      }
    }
    next = nextAfter(next)
  }
  return { times: withoutMissed(ticks, catchUp, now), next }
}

function dueIntervals(everyMs: number, catchUp: CatchUp, expected: Date, now: Date): Firing {
  const missed = Math.max(0, Math.floor((now.getTime() - expected.getTime()) / everyMs))
  if (catchUp === 'all') {
    const count = Math.min(missed + 1, maxCaughtUp)
    const times = Array.from({ length: count }, (_, index) => new Date(expected.getTime() + index * everyMs))
    return { times, next: new Date(expected.getTime() + count * everyMs) }
  }
  const last = new Date(expected.getTime() + missed * everyMs)
  return { times: withoutMissed([last], catchUp, now), next: new Date(last.getTime() + everyMs) }
}

function withoutMissed(ticks: readonly Date[], catchUp: CatchUp, now: Date): readonly Date[] {
  if (catchUp !== 'none') return ticks
  return ticks.filter((tick) => now.getTime() - tick.getTime() <= missedAfterMs)
}
