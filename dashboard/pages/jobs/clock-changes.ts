import { followsClock } from '../../../src/core/jobs/cron-kind.ts'

const minuteMs = 60_000

function offsetMinutes(at: Date, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  }).formatToParts(at)
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value)
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))
  return Math.round((local - at.getTime()) / minuteMs)
}

/** What the rule of docs/jobs.md#daylight-saving means for this expression. */
const effects = {
  fixed: {
    forward: 'Clocks go forward around then: the times that are skipped run once, right after the gap.',
    back: 'Clocks go back around then: a time that comes twice runs the first time only.',
  },
  wildcard: {
    forward: 'Clocks go forward around then: the times that are skipped do not run.',
    back: 'Clocks go back around then: the times that come twice run twice.',
  },
} as const

/** For each time of a schedule: what happens to the clocks of its zone on that day, or null. An interval takes no notice of them. */
export function clockChanges(
  times: readonly string[],
  { cron, timezone }: { readonly cron: string | null; readonly timezone: string },
): readonly (string | null)[] {
  if (cron === null) return times.map(() => null)
  const effect = effects[followsClock(cron) ? 'wildcard' : 'fixed']
  return times.map((time) => {
    const at = new Date(time)
    const before = offsetMinutes(new Date(at.getTime() - 12 * 60 * minuteMs), timezone)
    const after = offsetMinutes(new Date(at.getTime() + 12 * 60 * minuteMs), timezone)
    if (before === after) return null
    return before < after ? effect.forward : effect.back
  })
}
