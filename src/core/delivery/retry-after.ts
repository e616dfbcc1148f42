/** A longer request is cut to a day: a typing error at the receiver must not block an endpoint for years. */
export const maxRetryAfterMs = 24 * 60 * 60 * 1000

const holdJitterShare = 0.1
const maxHoldJitterMs = 30_000

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const month = `(?<month>${monthNames.join('|')})`
const time = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
const shortDay = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const longDay = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'

/** Sun, 06 Nov 1994 08:49:37 GMT */
const imfFixdate = new RegExp(String.raw`^${shortDay}, (?<day>\d\d) ${month} (?<year>\d{4}) ${time} GMT$`)
/** Sunday, 06-Nov-94 08:49:37 GMT */
const rfc850Date = new RegExp(String.raw`^${longDay}, (?<day>\d\d)-${month}-(?<shortYear>\d\d) ${time} GMT$`)
/** Sun Nov  6 08:49:37 1994 */
const asctimeDate = new RegExp(String.raw`^${shortDay} ${month} (?<day>[ \d]\d) ${time} (?<year>\d{4})$`)

/** The standard has whole seconds only; fractions are accepted because real APIs send them. */
const deltaSeconds = /^-?\d{1,15}(?:\.\d{1,9})?$/

/**
 * The delay of a `Retry-After` header, from now: seconds or any of the three HTTP dates. The past is 0, more than a
 * day is a day, and an invalid value is undefined (the retry policy decides then).
 *
 * @example parseRetryAfterMs('120', Date.now()) // 120000
 */
export function parseRetryAfterMs(value: string, nowMs: number): number | undefined {
  const text = value.trim()
  const waitMs = deltaSeconds.test(text) ? Math.ceil(Number(text) * 1000) : untilMs(text, nowMs)
  return waitMs === undefined ? undefined : Math.min(Math.max(0, waitMs), maxRetryAfterMs)
}

/**
 * How long to hold the endpoint. Jitter only adds time: earlier than requested would cause another 429, and without any
 * every sender with the same value would come back in the same second.
 */
export function holdMs(retryAfterMs: number, random: () => number): number {
  const askedMs = Math.ceil(Math.min(Math.max(0, retryAfterMs), maxRetryAfterMs))
  return askedMs + Math.floor(random() * Math.min(askedMs * holdJitterShare, maxHoldJitterMs))
}

function untilMs(text: string, nowMs: number): number | undefined {
  const parts = (imfFixdate.exec(text) ?? rfc850Date.exec(text) ?? asctimeDate.exec(text))?.groups
  if (parts === undefined) return undefined
  const atMs =
    parts.shortYear === undefined
      ? instantMs(Number(parts.year), parts)
      : instantOfShortYearMs(Number(parts.shortYear), parts, nowMs)
  return atMs === undefined ? undefined : atMs - nowMs
}

/** A two-digit year is the latest one that isn't more than 50 years ahead (RFC 9110, 5.6.7). */
function instantOfShortYearMs(shortYear: number, parts: DateParts, nowMs: number): number | undefined {
  const now = new Date(nowMs)
  const century = now.getUTCFullYear() - (now.getUTCFullYear() % 100)
  const horizonMs = new Date(nowMs).setUTCFullYear(now.getUTCFullYear() + 50)
  for (const year of [century + 100 + shortYear, century + shortYear, century - 100 + shortYear]) {
    if (Date.UTC(year, 0, 1) > horizonMs) continue
    const atMs = instantMs(year, parts)
    if (atMs === undefined || atMs <= horizonMs) return atMs
  }
  return undefined
}

type DateParts = Readonly<Record<string, string | undefined>>

function instantMs(year: number, parts: DateParts): number | undefined {
  const monthIndex = monthNames.indexOf(parts.month ?? '')
  const [day, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second].map(Number)
  if (day === undefined || hour === undefined || minute === undefined || second === undefined)
    return undefined
  // 60 is a leap second; Date treats it as the next minute's first, which is right for waiting.
  if (hour > 23 || minute > 59 || second > 60) return undefined
  const atMidnight = new Date(Date.UTC(year, monthIndex, day))
  if (day < 1 || atMidnight.getUTCDate() !== day || atMidnight.getUTCMonth() !== monthIndex) return undefined
  return Date.UTC(year, monthIndex, day, hour, minute, second)
}
