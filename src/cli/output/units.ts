const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** Beyond this many days, a date is clearer. */
const maxRelativeDays = 60

/**
 * A duration, short enough for a table.
 *
 * @example formatDuration(1234) // '1.2 s'
 */
export function formatDuration(milliseconds: number): string {
  const size = Math.abs(milliseconds)
  if (size < secondMs) return `${rounded(milliseconds)} ms`
  if (size < minuteMs) return `${rounded(milliseconds / secondMs)} s`
  if (size < hourMs) return parts(milliseconds, minuteMs, 'min', secondMs, 's')
  if (size < 2 * dayMs) return parts(milliseconds, hourMs, 'h', minuteMs, 'min')
  return parts(milliseconds, dayMs, 'd', hourMs, 'h')
}

/** @example formatBytes(12_345) // '12.1 KiB' */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const
  let size = bytes
  let unit = 0
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit += 1
  }
  return `${unit === 0 ? size : rounded(size)} ${units[unit]}`
}

/**
 * A time relative to now.
 *
 * @example formatRelative(new Date(0), 90_000) // '1 min ago'
 */
export function formatRelative(at: Date, nowMs: number): string {
  const distanceMs = at.getTime() - nowMs
  const size = Math.abs(distanceMs)
  if (size >= maxRelativeDays * dayMs) return at.toISOString().slice(0, 10)
  if (size < secondMs) return 'now'
  const text = coarse(size)
  return distanceMs < 0 ? `${text} ago` : `in ${text}`
}

/** One unit only: smaller units do not matter at that distance. */
function coarse(size: number): string {
  if (size < minuteMs) return `${Math.floor(size / secondMs)} s`
  if (size < hourMs) return `${Math.floor(size / minuteMs)} min`
  if (size < 2 * dayMs) return `${Math.floor(size / hourMs)} h`
  return `${Math.floor(size / dayMs)} d`
}

function parts(
  milliseconds: number,
  unitMs: number,
  unit: string,
  smallerMs: number,
  smaller: string,
): string {
  // Round first, so that 59.9 s become a whole minute and not 60 s.
  const whole = Math.round(milliseconds / smallerMs) * smallerMs
  const rest = (whole % unitMs) / smallerMs
  return `${Math.trunc(whole / unitMs)} ${unit}${rest === 0 ? '' : ` ${Math.abs(rest)} ${smaller}`}`
}

/** One decimal below 10, none above. */
function rounded(value: number): string {
  const digits = Math.abs(value) < 10 ? 1 : 0
  return String(Number(value.toFixed(digits)))
}
