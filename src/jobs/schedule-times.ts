import { Cron } from 'croner'
import { problemOfTimeZone } from '../core/jobs/time-zone.ts'

/** When something is to be run: exactly one of the three. */
export interface ScheduleRule {
  readonly cron: string | null
  readonly timezone: string
  readonly everyMs: number | null
  readonly runAt: Date | null
}

export type CatchUp = 'one' | 'all' | 'none'

/** With catch-up `none`, a fire that is late by more than this has been missed. */
export const missedAfterMs = 60_000
/** What `all` makes up for at most in one go; the rest of a long downtime follows round by round. */
export const maxCaughtUp = 1000

/** What is wrong with a rule, in words; null when it can be used. */
export function problemOfRule(rule: ScheduleRule): string | null {
  const zoneProblem = problemOfTimeZone(rule.timezone)
  if (zoneProblem !== null || rule.cron === null) return zoneProblem
  try {
    const cron = new Cron(rule.cron, { timezone: rule.timezone, paused: true })
    return cron.nextRun() === null ? `"${rule.cron}" never comes to pass` : null
  } catch (error) {
    return `"${rule.cron}" is not a cron expression: ${error instanceof Error ? error.message : String(error)}`
  }
}

/**
 * The first fire strictly after `after`; null: never again. Over a daylight-saving gap a time that doesn't exist moves to the moment after
 * the gap; a time that comes twice fires once (with a wildcard hour: each time).
 */
export function nextFire(rule: ScheduleRule, after: Date): Date | null {
  if (rule.runAt !== null) return rule.runAt > after ? rule.runAt : null
  if (rule.everyMs !== null) return new Date(after.getTime() + rule.everyMs)
  if (rule.cron === null) return null
  return new Cron(rule.cron, { timezone: rule.timezone, paused: true }).nextRun(after)
}

/** The next fires, for a preview. */
export function nextFires(rule: ScheduleRule, after: Date, count: number): Date[] {
  const fires: Date[] = []
  for (let next = nextFire(rule, after); next !== null && fires.length < count; next = nextFire(rule, next)) {
    fires.push(next)
  }
  return fires
}

export interface Firing {
  /** The ticks to run now. */
  readonly times: readonly Date[]
  /** When to fire next; null: never again. */
  readonly next: Date | null
}

/**
 * What to fire of a schedule whose next fire was `expected`, and is due at `now`. After a downtime `one` makes up for the latest missed
 * tick, `all` for each of them, `none` for none.
 */
export function dueFires(rule: ScheduleRule, catchUp: CatchUp, expected: Date, now: Date): Firing {
  if (rule.runAt !== null) return { times: [expected], next: null }
  if (rule.everyMs !== null) return dueIntervals(rule.everyMs, catchUp, expected, now)
  const ticks: Date[] = [expected]
  let next = nextFire(rule, expected)
  while (next !== null && next <= now) {
    if (catchUp === 'all') {
      if (ticks.length >= maxCaughtUp) return { times: ticks, next }
      ticks.push(next)
    } else {
      ticks[0] = next
      // Thousands of missed ticks needn't be counted one by one to find the last few.
      if (now.getTime() - next.getTime() > missedAfterMs) {
        const skipTo = new Date(now.getTime() - missedAfterMs)
        const beyond = nextFire(rule, skipTo)
        if (beyond !== null && beyond <= now) {
          next = beyond
          continue
        }
      }
    }
    next = nextFire(rule, next)
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
