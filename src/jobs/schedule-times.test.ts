import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dueFires,
  maxCaughtUp,
  nextFire,
  nextFires,
  problemOfRule,
  type ScheduleRule,
} from './schedule-times.ts'

const cron = (expression: string, timezone = 'UTC'): ScheduleRule => ({
  cron: expression,
  timezone,
  everyMs: null,
  runAt: null,
})
const every = (everyMs: number): ScheduleRule => ({ cron: null, timezone: 'UTC', everyMs, runAt: null })
const iso = (dates: readonly Date[]) => dates.map((date) => date.toISOString())
const at = (text: string) => new Date(text)

describe('over daylight-saving changes', () => {
  test('a time that the clock skips fires once that day', () => {
    // 31 March 2030, Amsterdam: 02:00 becomes 03:00.
    const fires = nextFires(cron('30 2 * * *', 'Europe/Amsterdam'), at('2030-03-30T12:00:00Z'), 3)
    const days = fires.map((fire) => fire.toLocaleDateString('en-CA', { timeZone: 'Europe/Amsterdam' }))
    expect(days).toEqual(['2030-03-31', '2030-04-01', '2030-04-02'])
    // The first moment after the gap, 03:00 there.
    expect(fires[0]!.toISOString()).toBe('2030-03-31T01:00:00.000Z')
  })

  test('a time that comes twice fires once', () => {
    // 27 October 2030, Amsterdam: 03:00 becomes 02:00.
    const fires = nextFires(cron('30 2 * * *', 'Europe/Amsterdam'), at('2030-10-26T12:00:00Z'), 2)
    expect(iso(fires)).toEqual(['2030-10-27T00:30:00.000Z', '2030-10-28T01:30:00.000Z'])
  })

  test('every quarter of an hour goes on evenly through both changes, also in a zone that shifts by half an hour', () => {
    for (const [zone, around] of [
      ['America/New_York', '2030-03-10T05:00:00Z'],
      ['America/New_York', '2030-11-03T04:00:00Z'],
      ['Australia/Lord_Howe', '2030-04-06T13:00:00Z'],
      ['Australia/Lord_Howe', '2030-10-05T13:00:00Z'],
    ] as const) {
      const fires = nextFires(cron('*/15 * * * *', zone), at(around), 24)
      const gaps = fires.slice(1).map((fire, index) => fire.getTime() - fires[index]!.getTime())
      expect(new Set(gaps), `${zone} ${around}`).toEqual(new Set([900_000]))
    }
  })

  test('a daily schedule fires on each day of a year, in zones of every kind', () => {
    for (const zone of [
      'Europe/London',
      'America/Sao_Paulo',
      'Asia/Kolkata',
      'Pacific/Apia',
      'Africa/Casablanca',
    ]) {
      const fires = nextFires(cron('15 2 * * *', zone), at('2029-12-31T12:00:00Z'), 365)
      const days = new Set(fires.map((fire) => fire.toLocaleDateString('en-CA', { timeZone: zone })))
      expect(days.size, zone).toBe(365)
    }
  })
})

test('a sixth field counts seconds', () => {
  expect(iso(nextFires(cron('*/20 * * * * *'), at('2030-01-01T00:00:05Z'), 3))).toEqual([
    '2030-01-01T00:00:20.000Z',
    '2030-01-01T00:00:40.000Z',
    '2030-01-01T00:01:00.000Z',
  ])
})

test('what can not be read is named', () => {
  expect(problemOfRule(cron('99 * * * *'))).toContain('is not a cron expression')
  expect(problemOfRule(cron('* * * * *', 'Mars/Olympus'))).toContain('is not a time zone')
  expect(problemOfRule(cron('0 0 31 2 *'))).toContain('never matches a time')
  expect(problemOfRule(cron('0 3 * * 1-5', 'Europe/Amsterdam'))).toBeNull()
})

describe('after a downtime', () => {
  const expected = at('2030-01-01T00:00:00Z')
  const now = at('2030-01-01T03:30:00Z')
  const hourly = cron('0 * * * *')

  test('one makes up for the latest tick, all for each, none for none', () => {
    const next = '2030-01-01T04:00:00.000Z'
    const one = dueFires(hourly, 'one', expected, now)
    expect([iso(one.times), one.next?.toISOString()]).toEqual([['2030-01-01T03:00:00.000Z'], next])
    const all = dueFires(hourly, 'all', expected, now)
    expect([all.times.length, all.next?.toISOString()]).toEqual([4, next])
    const none = dueFires(hourly, 'none', expected, now)
    expect([none.times, none.next?.toISOString()]).toEqual([[], next])
  })

  test('a fire that is hardly late is none that was missed', () => {
    const slightlyLate = dueFires(hourly, 'none', expected, at('2030-01-01T00:00:02Z'))
    expect(iso(slightlyLate.times)).toEqual(['2030-01-01T00:00:00.000Z'])
  })

  test('years of missed seconds are found at once, and made up for in pieces', () => {
    const eachSecond = cron('* * * * * *')
    const later = at('2032-01-01T00:00:00Z')
    const startedMs = performance.now()
    expect(iso(dueFires(eachSecond, 'one', expected, later).times)).toEqual(['2032-01-01T00:00:00.000Z'])
    expect(performance.now() - startedMs).toBeLessThan(2000)
    expect(dueFires(eachSecond, 'all', expected, later).times).toHaveLength(maxCaughtUp)
  })

  test('a one-off fires once, however late', () => {
    const rule: ScheduleRule = { cron: null, timezone: 'UTC', everyMs: null, runAt: expected }
    expect(dueFires(rule, 'one', expected, now)).toEqual({ times: [expected], next: null })
    expect(nextFire(rule, now)).toBeNull()
  })
})

test('whatever the interval and the delay, the next fire lies ahead and on the beat', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1000, max: 86_400_000 }),
      fc.integer({ min: 0, max: 10 * 86_400_000 }),
      fc.constantFrom('one' as const, 'none' as const),
      (everyMs, lateMs, catchUp) => {
        const expected = at('2030-01-01T00:00:00Z')
        const now = new Date(expected.getTime() + lateMs)
        const { times, next } = dueFires(every(everyMs), catchUp, expected, now)
        expect(next!.getTime()).toBeGreaterThan(now.getTime())
        expect(next!.getTime() - now.getTime()).toBeLessThanOrEqual(everyMs)
        expect((next!.getTime() - expected.getTime()) % everyMs).toBe(0)
        expect(times.length).toBeLessThanOrEqual(1)
      },
    ),
  )
})
