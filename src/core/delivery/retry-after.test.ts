import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { holdMs, maxRetryAfterMs, parseRetryAfterMs } from './retry-after.ts'

const nowMs = Date.UTC(2026, 2, 10, 12, 0, 0)
const shortDays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const longDays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (value: number) => String(value).padStart(2, '0')
const clock = (date: Date) =>
  [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':')

const forms: Record<string, (date: Date) => string> = {
  'IMF-fixdate': (date) => date.toUTCString(),
  'RFC 850': (date) =>
    `${longDays[date.getUTCDay()]}, ${two(date.getUTCDate())}-${months[date.getUTCMonth()]}-${two(date.getUTCFullYear() % 100)} ${clock(date)} GMT`,
  asctime: (date) =>
    `${shortDays[date.getUTCDay()]} ${months[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2, ' ')} ${clock(date)} ${date.getUTCFullYear()}`,
}

describe('Retry-After', () => {
  it.each(Object.entries(forms))('in the form %s is the time until that second', (_, write) => {
    const anySecond = fc.integer({ min: -2000 * 86_400, max: 86_400 })
    fc.assert(
      fc.property(anySecond, (seconds) => {
        const text = write(new Date(nowMs + seconds * 1000))
        expect(parseRetryAfterMs(text, nowMs)).toBe(Math.max(0, seconds * 1000))
      }),
    )
  })

  it('as a number is seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400 }), (seconds) => {
        expect(parseRetryAfterMs(String(seconds), nowMs)).toBe(seconds * 1000)
      }),
    )
    expect(parseRetryAfterMs(' 7 ', nowMs)).toBe(7000)
    expect(parseRetryAfterMs('0.5', nowMs)).toBe(500)
    expect(parseRetryAfterMs('-3', nowMs)).toBe(0)
  })

  it('is never more than a day', () => {
    expect(parseRetryAfterMs('999999999', nowMs)).toBe(maxRetryAfterMs)
    expect(parseRetryAfterMs('Sun, 06 Nov 2094 08:49:37 GMT', nowMs)).toBe(maxRetryAfterMs)
  })

  it('is undefined or within a day for any text whatever', () => {
    const nearlyDates = fc.stringMatching(
      /^(?:Sun|Sunday),? [0-9]{2}[ -](?:Nov|Feb)[ -][0-9]{2,4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/,
    )
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearlyDates), (text) => {
        const waitMs = parseRetryAfterMs(text, nowMs)
        if (waitMs === undefined) return
        expect(waitMs).toBeGreaterThanOrEqual(0)
        expect(waitMs).toBeLessThanOrEqual(maxRetryAfterMs)
      }),
    )
  })

  it.each([
    '',
    'soon',
    '1e3',
    '0x10',
    '5 seconds',
    '+5',
    'Infinity',
    'Sun, 32 Nov 2026 08:49:37 GMT',
    'Sun, 29 Feb 2026 08:49:37 GMT',
    'Sun, 00 Nov 2026 08:49:37 GMT',
    'Sun, 06 Nov 2026 24:00:00 GMT',
    'Sun, 06 Nov 2026 08:60:00 GMT',
    'Sun, 06 Nov 2026 08:49:37 CET',
    'Sun, 6 Nov 2026 08:49:37 GMT',
    'sun, 06 nov 2026 08:49:37 gmt',
    '2026-11-06T08:49:37Z',
    'Sun Nov 6 08:49:37 2026',
  ])('can be garbage: %j', (text) => {
    expect(parseRetryAfterMs(text, nowMs)).toBeUndefined()
  })

  it.each([
    // 50 years and a bit ahead would be 2076: it means 1976.
    ['Tuesday, 10-Mar-76 12:00:01 GMT', nowMs, 0],
    ['Tuesday, 10-Mar-76 12:00:00 GMT', nowMs, maxRetryAfterMs],
    ['Wednesday, 11-Mar-26 11:00:00 GMT', nowMs, 23 * 3_600_000],
    // 2100 has no 29 February, and isn't meant.
    ['Tuesday, 29-Feb-00 12:00:00 GMT', nowMs, 0],
    // Over the turn of the century "00" is tomorrow.
    ['Friday, 01-Jan-00 00:00:10 GMT', Date.UTC(2099, 11, 31, 23, 59, 50), 20_000],
    ['Thursday, 31-Dec-99 23:59:50 GMT', Date.UTC(2100, 0, 1), 0],
  ])('has two-digit years within 50 years ahead: %s', (text, at, expected) => {
    expect(parseRetryAfterMs(text, at)).toBe(expected)
  })
})

describe('a hold', () => {
  it('is never shorter than asked, and longer by a tenth and by 30 s at most', () => {
    const luck = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.nat(maxRetryAfterMs), luck, (retryAfterMs, random) => {
        const heldMs = holdMs(retryAfterMs, () => random)
        expect(heldMs).toBeGreaterThanOrEqual(retryAfterMs)
        expect(heldMs).toBeLessThanOrEqual(retryAfterMs + Math.min(retryAfterMs * 0.1, 30_000))
      }),
    )
  })

  it('spreads senders that got the same time', () => {
    expect(holdMs(60_000, () => 0)).toBe(60_000)
    expect(holdMs(60_000, () => 0.5)).toBe(63_000)
  })

  it('keeps to the cap even when it wasn’t asked to', () => {
    expect(holdMs(Number.MAX_SAFE_INTEGER, () => 0.999)).toBeLessThanOrEqual(maxRetryAfterMs + 30_000)
  })
})
