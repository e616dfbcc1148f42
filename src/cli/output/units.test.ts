import { expect, test } from 'vitest'
import { formatBytes, formatDuration, formatRelative } from './units.ts'

test.each([
  [0, '0 ms'],
  [0.4231, '0.4 ms'],
  [12.7, '13 ms'],
  [999, '999 ms'],
  [1234, '1.2 s'],
  [45_678, '46 s'],
  [60_000, '1 min'],
  [90_500, '1 min 31 s'],
  [119_999, '2 min'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
  [259_200_000, '3 d'],
  [266_400_000, '3 d 2 h'],
])('%d ms are written as %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text)
})

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [65_536, '64 KiB'],
  [5 * 2 ** 30, '5 GiB'],
])('%d bytes are written as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

const now = Date.UTC(2030, 0, 31, 12)

test.each([
  [0, 'now'],
  [-999, 'now'],
  [-1000, '1 s ago'],
  [-59_999, '59 s ago'],
  [-60_000, '1 min ago'],
  [2 * 3_600_000, 'in 2 h'],
  [-47 * 3_600_000, '47 h ago'],
  [3 * 86_400_000, 'in 3 d'],
  [-61 * 86_400_000, '2029-12-01'],
])('what is %d ms away is "%s"', (distanceMs, text) => {
  expect(formatRelative(new Date(now + distanceMs), now)).toBe(text)
})
