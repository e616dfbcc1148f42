const whole = new Intl.NumberFormat('en')

/** `18,204`. Counts that the server caps are shown as `10,000+`. */
export function formatCount(value: number, cap = Number.POSITIVE_INFINITY): string {
  return value >= cap ? `${whole.format(cap)}+` : whole.format(value)
}

/** `1 letter`, `2 letters`. */
export function countOf(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`
}

/** For axes only: `25 k`. */
export function formatShort(value: number): string {
  if (value >= 1_000_000) return `${trim(value / 1_000_000)} M`
  if (value >= 1000) return `${trim(value / 1000)} k`
  return trim(value)
}

function trim(value: number): string {
  return String(Math.round(value * 10) / 10)
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** `684 ms`, `10.00 s`, `23 min`, `2 d 23 h`: two units at most. */
export function formatDuration(ms: number): string {
  if (ms < 0) return '0 ms'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`
  return formatSpan(ms)
}

/** On an axis: `500 ms`, `2 s`, `1.5 s`. */
export function formatTickMs(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`
}

/** For what passes: `8 s`, `23 min`, `1 h 2 min`. */
export function formatSpan(ms: number): string {
  const place = units.findIndex(([, size]) => ms >= size)
  if (place === -1) return `${Math.max(0, Math.round(ms / 1000))} s`
  const [unit, size] = units[place] ?? units[3]
  const first = Math.floor(ms / size)
  const smaller = units[place + 1]
  if (smaller === undefined || unit === 'min') return `${first} ${unit}`
  const second = Math.floor((ms % size) / smaller[1])
  return second === 0 ? `${first} ${unit}` : `${first} ${unit} ${second} ${smaller[0]}`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`
}

export function formatPercent(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 0.1) return '< 0.1 %'
  return `${percent === 100 || percent === 0 ? percent : percent.toFixed(1)} %`
}

/** How often in a second: `418`, `2.6`, `0.03`. */
export function formatRate(perSecond: number | null): string {
  if (perSecond === null) return '–'
  if (perSecond >= 100 || perSecond === 0) return whole.format(Math.round(perSecond))
  return perSecond >= 0.1 ? trim(perSecond) : perSecond.toFixed(2)
}
