const TICKS = 5

/** Round numbers from zero to at least `highest`. */
export function niceTicks(highest: number): number[] {
  if (!(highest > 0)) return [0, 1]
  const rough = highest / TICKS
  const magnitude = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * magnitude >= rough) ?? 10) * magnitude
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step)
}

/** Positions of values on a logarithmic axis, from 0 to 1. A leading zero is placed one step before the others. */
export function placeOnAxis(values: readonly number[]): number[] {
  const logs = values.filter((value) => value > 0).map((value) => Math.log10(value))
  const [first = 0] = logs
  const last = logs.at(-1) ?? first
  const step = logs.length > 1 ? (last - first) / (logs.length - 1) : 1
  const start = values[0] === 0 ? first - step : first
  const length = last - start || 1
  return values.map((value) => (value > 0 ? (Math.log10(value) - start) / length : 0))
}

/** Powers of ten around the values. */
export function decadeTicks(values: readonly number[]): number[] {
  const positive = values.filter((value) => value > 0)
  const lowest = Math.floor(Math.log10(Math.min(...positive)))
  const highest = Math.ceil(Math.log10(Math.max(...positive)))
  return Array.from({ length: Math.max(1, highest - lowest) + 1 }, (_, index) => 10 ** (lowest + index))
}
