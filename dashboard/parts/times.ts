/** `03:04:18` on the same day, else `Thu 22 Oct, 02:30`. */
export function formatTime(at: Date, now: Date, zone: 'local' | 'utc'): string {
  const timeZone = zone === 'utc' ? 'UTC' : undefined
  const day = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  })
  if (day.format(at) === day.format(now)) {
    return new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium' }).format(at)
  }
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(at.getUTCFullYear() !== now.getUTCFullYear() && { year: 'numeric' }),
  }).formatToParts(at)
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ''
  const year = part('year')
  return `${part('weekday')} ${part('day')} ${part('month')}${year === '' ? '' : ` ${year}`}, ${part('hour')}:${part('minute')}`
}

/** The exact time with milliseconds and time zone, shown on hover and focus. */
export function formatExactTime(at: Date, zone: 'local' | 'utc'): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zone === 'utc' ? 'UTC' : undefined,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    timeZoneName: 'short',
  }).format(at)
}
