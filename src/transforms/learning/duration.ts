import { LearningError } from './learning-error.ts'

const secondsPerMinute = 60
const secondsPerHour = 3600
const secondsPerDay = 86_400
const digits = 6
/** A century: larger values can't be seconds, and much larger ones are printed with exponents, which durations don't allow. */
const maxSeconds = 3_155_760_000

interface Units {
  readonly days: number
  readonly hours: number
  readonly minutes: number
  /** With up to six decimals, without trailing zeros. */
  readonly seconds: string
}

function unitsOf(duration: number): Units {
  if (duration > maxSeconds) {
    throw new LearningError(
      'learning_wrong_type',
      `A duration of ${duration} seconds is longer than a century.`,
    )
  }
  const micros = Math.round(Math.max(0, duration) * 10 ** digits)
  const whole = Math.floor(micros / 10 ** digits)
  const fraction = String(micros - whole * 10 ** digits)
    .padStart(digits, '0')
    .replace(/0+$/, '')
  const seconds = String(whole % secondsPerMinute)
  return {
    days: Math.floor(whole / secondsPerDay),
    hours: Math.floor((whole % secondsPerDay) / secondsPerHour),
    minutes: Math.floor((whole % secondsPerHour) / secondsPerMinute),
    seconds: fraction === '' ? seconds : `${seconds}.${fraction}`,
  }
}

/** ISO 8601 without units that are zero. @example compactDuration(195) // 'PT3M15S' */
export function compactDuration(durationSeconds: number): string {
  const { days, hours, minutes, seconds } = unitsOf(durationSeconds)
  const time = unit(hours, 'H') + unit(minutes, 'M') + (seconds === '0' ? '' : `${seconds}S`)
  if (time === '') return `P${days}D`
  return `P${unit(days, 'D')}T${time}`
}

/** ISO 8601 with two digits per unit, from the first unit that isn't zero. @example paddedDuration(195) // 'PT03M15S' */
export function paddedDuration(durationSeconds: number): string {
  const { days, hours, minutes, seconds } = unitsOf(durationSeconds)
  const hasHours = days > 0 || hours > 0
  const hasMinutes = hasHours || minutes > 0
  const time =
    (hasHours ? `${two(hours)}H` : '') +
    (hasMinutes ? `${two(minutes)}M` : '') +
    `${seconds.replace(/^\d(?!\d)/, '0$&')}S`
  return `P${unit(days, 'D')}T${time}`
}

function unit(value: number, letter: string): string {
  return value === 0 ? '' : `${value}${letter}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
