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

/** For each time: what happens to the clocks of its zone on that day, or null. */
export function clockChanges(times: readonly string[], timeZone: string): readonly (string | null)[] {
  return times.map((time) => {
    const at = new Date(time)
    const before = offsetMinutes(new Date(at.getTime() - 12 * 60 * minuteMs), timeZone)
    const after = offsetMinutes(new Date(at.getTime() + 12 * 60 * minuteMs), timeZone)
    if (before === after) return null
    return before < after
      ? 'Clocks go forward around then: a time that is left out runs once, after it.'
      : 'Clocks go back around then: a time that comes twice runs once.'
  })
}
