import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CronTimes } from './cron-times.ts'
import { WallClock } from './wall-clock.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const weekMs = 168 * hourMs

interface Minute {
  readonly atMs: number
  /** What the clock on the wall shows: the same minute in UTC. */
  readonly wallMs: number
}

interface ClockChange {
  readonly zone: string
  readonly minutes: readonly Minute[]
}

/** Every minute from four hours before a change to five hours after it, by the calendar of the platform. */
function minutesAround(zone: string, changeMs: number): readonly Minute[] {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  return Array.from({ length: 9 * 60 }, (_, index) => {
    const atMs = changeMs - 4 * hourMs + index * minuteMs
    const shown = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes) => shown.get(type) ?? Number.NaN
    const wallMs = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))
    return { atMs, wallMs }
  })
}

/** Zones that change by the same amount at the same instant from the same offset have the same minutes: one of them is enough. */
function distinctChanges(fromYear: number, years: number): ClockChange[] {
  const changes = new Map<string, ClockChange>()
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const clock = new WallClock(zone)
    for (let weekAt = Date.UTC(fromYear, 0); weekAt < Date.UTC(fromYear + years, 0); weekAt += weekMs) {
      const changeMs = clock.changeBetween(weekAt, weekAt + weekMs)
      if (changeMs === null) continue
      const key = [changeMs, clock.offsetMs(changeMs - 1), clock.offsetMs(changeMs)].join()
      if (!changes.has(key)) changes.set(key, { zone, minutes: minutesAround(zone, changeMs) })
    }
  }
  return [...changes.values()]
}

/** The numbers that a field of an expression names. */
function numbersOf(field: string, highest: number): ReadonlySet<number> {
  const numbers = new Set<number>()
  for (const part of field.split(',')) {
    const [range = '', step = '1'] = part.split('/')
    const [from, to = from] = range === '*' ? [0, highest] : range.split('-').map(Number)
    for (let each = from ?? 0; each <= (to ?? 0); each += Number(step)) numbers.add(each)
  }
  return numbers
}

/** The rule in its plainest form: walk through the minutes, and look at the clock at each of them. */
function walk(expression: string, minutes: readonly Minute[]): Date[] {
  const [minute = '', hour = '', , , weekday = ''] = expression.split(' ')
  const [minutesNamed, hoursNamed, daysNamed] = [
    numbersOf(minute, 59),
    numbersOf(hour, 23),
    numbersOf(weekday, 6),
  ]
  const matches = (wallMs: number) => {
    const wall = new Date(wallMs)
    return (
      minutesNamed.has(wall.getUTCMinutes()) &&
      hoursNamed.has(wall.getUTCHours()) &&
      daysNamed.has(wall.getUTCDay())
    )
  }
  const isFixed = !minute.includes('*') && !hour.includes('*')
  const fires: Date[] = []
  let latestWallMs = minutes[0]!.wallMs
  for (const { atMs, wallMs } of minutes.slice(1)) {
    let doesFire = matches(wallMs)
    if (isFixed) {
      doesFire = false
      // Each minute of the wall clock counts once: also those that it skips, not those that it repeats.
      for (; latestWallMs < wallMs; latestWallMs += minuteMs) doesFire ||= matches(latestWallMs + minuteMs)
    }
    if (doesFire) fires.push(new Date(atMs))
  }
  return fires
}

function firesOf(expression: string, { zone, minutes }: ClockChange): Date[] {
  const times = new CronTimes(expression, zone)
  const lastMs = minutes.at(-1)!.atMs
  const fires: Date[] = []
  let next = times.next(new Date(minutes[0]!.atMs))
  while (next !== null && next.getTime() <= lastMs) {
    fires.push(next)
    next = times.next(next)
  }
  return fires
}

function expectSame(expression: string, change: ClockChange): void {
  expect(firesOf(expression, change), `${expression} in ${change.zone}`).toEqual(
    walk(expression, change.minutes),
  )
}

const changes = distinctChanges(2026, 2)

test('two years have changes of every kind: by an hour, by half an hour, by two; at midnight and by night', () => {
  const shifts = new Set(
    changes.flatMap(({ minutes }) =>
      minutes.slice(1).map(({ wallMs }, index) => (wallMs - minutes[index]!.wallMs) / minuteMs),
    ),
  )
  expect(shifts).toEqual(new Set([1, 61, -59, 31, -29, 121, -119]))
  expect(changes.length).toBeGreaterThan(100)
})

test.each([
  '30 2 * * *',
  '0 2 * * *',
  '0 3 * * *',
  '15,45 2 * * *',
  '0,30 1 * * *',
  '0 1-4 * * *',
  '10-20 0-3 * * *',
  '59 23 * * *',
  '0 0 * * *',
  '30 0 * * 0',
  '45 1 * * 1-6',
  '20 * * * *',
  '*/20 * * * *',
  '*/30 2 * * *',
  '0 */2 * * *',
  '5,*/25 0-3 * * 0,6',
  '7 1-23/2 * * *',
])(
  'around every change of the clocks in two years, %s fires as a walk through the minutes says',
  (expression) => {
    for (const change of changes) expectSame(expression, change)
  },
)

const field = (highest: number) => {
  const part = fc.oneof(
    { weight: 2, arbitrary: fc.integer({ min: 0, max: highest }).map(String) },
    fc.tuple(fc.nat(highest), fc.nat(highest)).map((ends) => `${Math.min(...ends)}-${Math.max(...ends)}`),
    fc
      .tuple(fc.nat(highest), fc.nat(highest), fc.integer({ min: 1, max: 7 }))
      .map(([one, other, step]) => `${Math.min(one, other)}-${Math.max(one, other)}/${step}`),
  )
  const wildcard = fc.oneof(
    fc.constant('*'),
    fc.integer({ min: 2, max: highest }).map((step) => `*/${step}`),
  )
  return fc.oneof(
    { weight: 3, arbitrary: fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join()) },
    { weight: 1, arbitrary: wildcard },
  )
}

test('so does any expression around any of them', () => {
  fc.assert(
    fc.property(
      field(59),
      field(5),
      field(6),
      fc.constantFrom(...changes),
      (minute, hour, weekday, change) => {
        expectSame(`${minute} ${hour} * * ${weekday}`, change)
      },
    ),
    { numRuns: 300 },
  )
})

test('whenever one asks, the next time is the first of those that follow', () => {
  fc.assert(
    fc.property(
      field(59),
      field(4),
      fc.constantFrom(...changes),
      fc.integer({ min: 0, max: 8 * hourMs }),
      (minute, hour, change, sinceMs) => {
        const expression = `${minute} ${hour} * * *`
        const after = new Date(change.minutes[0]!.atMs + sinceMs)
        const expected = walk(expression, change.minutes).find((fire) => fire > after)
        if (expected === undefined) return
        expect(new CronTimes(expression, change.zone).next(after), `${expression} ${change.zone}`).toEqual(
          expected,
        )
      },
    ),
    { numRuns: 1000 },
  )
})

describe('beyond minutes', () => {
  const next = (expression: string, zone: string, after: string) =>
    new CronTimes(expression, zone).next(new Date(after))?.toISOString()

  test('seconds of a fixed minute that is skipped fire once, after the gap', () => {
    expect(next('*/10 30 2 * * *', 'Europe/Amsterdam', '2030-03-30T12:00:00Z')).toBe(
      '2030-03-31T01:00:00.000Z',
    )
    expect(next('*/10 30 2 * * *', 'Europe/Amsterdam', '2030-03-31T01:00:00Z')).toBe(
      '2030-04-01T00:30:00.000Z',
    )
  })

  test('a wildcard that matches one day of the week fires in both of its repeated hours', () => {
    expect(next('*/30 2 * * 0', 'Europe/Amsterdam', '2030-10-27T00:30:00Z')).toBe('2030-10-27T01:00:00.000Z')
    expect(next('*/30 2 * * 0', 'Europe/Amsterdam', '2030-10-27T01:30:00Z')).toBe('2030-11-03T01:00:00.000Z')
  })

  test('a day that a zone leaves out fires at its end', () => {
    // Samoa went from 29 to 31 December 2011.
    expect(next('0 12 * * *', 'Pacific/Apia', '2011-12-30T00:00:00Z')).toBe('2011-12-30T10:00:00.000Z')
    expect(next('0 12 * * *', 'Pacific/Apia', '2011-12-30T10:00:00Z')).toBe('2011-12-30T22:00:00.000Z')
  })

  test('years ahead, and never', () => {
    expect(next('*/5 0 29 2 *', 'Europe/Amsterdam', '2030-03-01T00:00:00Z')).toBe('2032-02-28T23:00:00.000Z')
    expect(next('0 0 31 2 *', 'Europe/Amsterdam', '2030-03-01T00:00:00Z')).toBeUndefined()
  })

  test('nicknames follow the rule of what they stand for', () => {
    expect(next('@hourly', 'Europe/Amsterdam', '2030-10-27T00:00:00Z')).toBe('2030-10-27T01:00:00.000Z')
    expect(next('@daily', 'Africa/Cairo', '2026-04-23T12:00:00Z')).toBe('2026-04-23T22:00:00.000Z')
  })

  test('a date is no expression', () => {
    expect(() => new CronTimes('2030-01-01T00:00:00', 'UTC')).toThrow('use runAt')
  })
})
