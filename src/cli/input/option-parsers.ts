import { InvalidArgumentError } from 'commander'

/** Collects `--header 'name: value'` into one record. */
export function collectHeader(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const colon = text.indexOf(':')
  if (colon < 1) throw new InvalidArgumentError('Write it as "name: value".')
  return { ...earlier, [text.slice(0, colon).trim()]: text.slice(colon + 1).trim() }
}

export function collectText(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text]
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number.')
  return Number(text)
}

export function decimalNumber(text: string): number {
  if (!/^\d{1,12}(\.\d{1,9})?$/.test(text)) throw new InvalidArgumentError('Give a number, like 20 or 0.5.')
  return Number(text)
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const isoTime = /^\d{4,}-\d\d-\d\dT/

/**
 * A time as ISO 8601, or relative to now.
 *
 * @example instant('+90s', nowMs) // in a minute and a half
 */
export function instant(text: string, nowMs: number): string {
  const time = fromNow(text, /^\+(\d{1,9})([smhd])$/, nowMs, 1)
  if (!isoTime.test(time)) {
    throw new InvalidArgumentError(
      'Write it like 2030-01-31T09:00:00Z, or relative to now like +20s, +10m or +2h.',
    )
  }
  return time
}

/**
 * The same for the past.
 *
 * @example pastInstant('-2h', nowMs) // two hours ago
 */
export function pastInstant(text: string, nowMs: number): string {
  return fromNow(text, /^-(\d{1,9})([smhd])$/, nowMs, -1)
}

/** Parses a duration to milliseconds: `90d`, `12h`, `30m`, `45s`. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (count === undefined) throw new InvalidArgumentError('Write it like 45s, 30m, 12h or 90d.')
  return Number(count) * unitMs[unit as keyof typeof unitMs]
}

function fromNow(text: string, pattern: RegExp, nowMs: number, sign: 1 | -1): string {
  const distance = pattern.exec(text)
  if (distance === null) return text
  const milliseconds = Number(distance[1]) * unitMs[distance[2] as keyof typeof unitMs]
  const at = new Date(nowMs + sign * milliseconds)
  if (Number.isNaN(at.getTime())) throw new InvalidArgumentError('That time is too far away.')
  return at.toISOString()
}
