import { LearningError } from './learning-error.ts'

const shape =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:(Z|z)|([+-])(\d\d)(?::?(\d\d))?|(?<none>))$/

const firstMs = Date.parse('0000-01-01T00:00:00Z')
const lastMs = Date.parse('9999-12-31T23:59:59Z')

/** A time with microseconds. Its text doesn't depend on the time zone and precision of the event, so ids derived from it don't either. */
export interface EventTime {
  /** `2030-01-31T09:00:05.250000+00:00`; whole seconds have no fraction. */
  readonly microseconds: string
  /** `2030-01-31T09:00:05.250Z` */
  readonly milliseconds: string
  readonly epochMs: number
}

/** @example parseEventTime('2030-01-31T10:00:05.25+01:00').milliseconds // '2030-01-31T09:00:05.250Z' */
export function parseEventTime(text: string): EventTime {
  const parts = shape.exec(text)
  if (parts === null) throw unreadable(text)
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second = '00',
    fraction = '',
    zulu,
    sign,
    zoneHour = '0',
    zoneMinute = '0',
  ] = parts
  if (zulu === undefined && sign === undefined) {
    throw new LearningError(
      'learning_bad_timestamp',
      `The timestamp "${text}" has no time zone, so its moment is unknown. Add one, like ${text}+00:00.`,
    )
  }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) throw unreadable(text)
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) throw unreadable(text)
  const local = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  )
  const date = new Date(local)
  // A day that its month doesn't have would become one of the next month; years before 100 would become 19xx.
  if (date.getUTCDate() !== Number(day) || date.getUTCMonth() + 1 !== Number(month)) throw unreadable(text)
  if (date.getUTCFullYear() !== Number(year)) throw unreadable(text)
  const zoneMs = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000
  const utc = local - (sign === '-' ? -zoneMs : zoneMs)
  // The time zone may shift the time out of the four-digit years.
  if (utc < firstMs || utc > lastMs) throw unreadable(text)
  // Most times are in UTC already, and this runs for every event.
  const seconds =
    zoneMs === 0
      ? `${year}-${month}-${day}T${hour}:${minute}:${second}`
      : new Date(utc).toISOString().slice(0, 19)
  const micros = fraction.padEnd(6, '0').slice(0, 6)
  return {
    microseconds: micros === '000000' ? `${seconds}+00:00` : `${seconds}.${micros}+00:00`,
    milliseconds: `${seconds}.${micros.slice(0, 3)}Z`,
    epochMs: utc + Number(micros.slice(0, 3)),
  }
}

function unreadable(text: string): LearningError {
  return new LearningError(
    'learning_bad_timestamp',
    `The timestamp "${text.slice(0, 64)}" is not a moment in ISO 8601, like 2030-01-31T09:00:05.250000+00:00.`,
  )
}
