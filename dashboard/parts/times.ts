const formatters = new Map<string, Intl.DateTimeFormat>()

/** To make one takes longer than to draw a row of a table. */
function formatter(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${name} ${options.timeZone ?? ''}`
  const known = formatters.get(key) ?? new Intl.DateTimeFormat('en-GB', options)
  formatters.set(key, known)
  return known
}

/** The day, and the time of day: without the formatter of the platform, which would take a quarter of the time in which a row is drawn. */
function dayOf(at: Date, zone: 'local' | 'utc'): string {
  return zone === 'utc'
    ? at.toISOString().slice(0, 10)
    : `${at.getFullYear()}-${at.getMonth()}-${at.getDate()}`
}

function timeOfDay(at: Date, zone: 'local' | 'utc'): string {
  const parts =
    zone === 'utc'
      ? [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]
      : [at.getHours(), at.getMinutes(), at.getSeconds()]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/** `03:04:18` on the same day, else `Thu 22 Oct, 02:30`. */
export function formatTime(at: Date, now: Date, zone: 'local' | 'utc'): string {
  if (dayOf(at, zone) === dayOf(now, zone)) return timeOfDay(at, zone)
  const timeZone = zone === 'utc' ? 'UTC' : undefined
  const isOtherYear = at.getUTCFullYear() !== now.getUTCFullYear()
  const parts = formatter(isOtherYear ? 'with year' : 'without year', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(isOtherYear && { year: 'numeric' }),
  }).formatToParts(at)
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ''
  const year = part('year')
  return `${part('weekday')} ${part('day')} ${part('month')}${year === '' ? '' : ` ${year}`}, ${part('hour')}:${part('minute')}`
}

/** `03:04:18.127`, for lines of a log. */
export function formatLogTime(at: Date, zone: 'local' | 'utc'): string {
  return `${timeOfDay(at, zone)}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

/** The exact time with milliseconds and time zone, shown on hover and focus. */
export function formatExactTime(at: Date, zone: 'local' | 'utc'): string {
  return formatter('exact', {
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
