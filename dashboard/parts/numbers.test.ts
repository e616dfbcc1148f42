import { expect, test } from 'vitest'
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatPercent,
  formatSpan,
  formatTickMs,
} from './numbers.ts'

test.each([
  [0.4, '0 ms'],
  [684, '684 ms'],
  [10_000, '10.00 s'],
  [1_380_000, '23 min'],
  [255_600_000, '2 d 23 h'],
  [3_600_000, '1 h'],
  [-5, '0 ms'],
])('%d ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test.each([
  [400, '0 s'],
  [8200, '8 s'],
  [61_000, '1 min'],
  [3_720_000, '1 h 2 min'],
])('what passes: %d ms is %s', (ms, text) => {
  expect(formatSpan(ms)).toBe(text)
})

test('counts have separators, a cap and a plural', () => {
  expect(formatCount(18_204)).toBe('18,204')
  expect(formatCount(10_000, 10_000)).toBe('10,000+')
  expect([countOf(1, 'letter'), countOf(2, 'letter'), countOf(2, 'reply', 'replies')]).toEqual([
    '1 letter',
    '2 letters',
    '2 replies',
  ])
})

test('bytes and shares', () => {
  expect([formatBytes(612), formatBytes(1400), formatBytes(4_100_000)]).toEqual(['612 B', '1.4 kB', '4.1 MB'])
  expect([formatPercent(0.981), formatPercent(1), formatPercent(0.0002)]).toEqual([
    '98.1 %',
    '100 %',
    '< 0.1 %',
  ])
})

test.each([
  [0, '0 ms'],
  [500, '500 ms'],
  [2000, '2 s'],
  [1500, '1.5 s'],
])('on an axis %d ms is %s', (ms, text) => {
  expect(formatTickMs(ms)).toBe(text)
})
