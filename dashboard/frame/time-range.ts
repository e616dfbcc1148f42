export const ranges = ['1h', '3h', '24h', '7d'] as const
export type Range = (typeof ranges)[number]

export const defaultRange: Range = '24h'

export const rangeMs: Readonly<Record<Range, number>> = {
  '1h': 3_600_000,
  '3h': 3 * 3_600_000,
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
}

export const rangeNames: Readonly<Record<Range, string>> = {
  '1h': '1 h',
  '3h': '3 h',
  '24h': '24 h',
  '7d': '7 d',
}

/** Pages with charts or a search over a time; elsewhere the choice would change nothing, and isn't offered. */
export const pagesOfRange: readonly string[] = ['/', '/events', '/endpoints/$name']

export function parseRange(value: unknown): Range | undefined {
  return ranges.find((range) => range === value)
}
