import { expect, test } from 'vitest'
import { formatExactTime, formatTime } from './times.ts'

const now = new Date('2026-10-23T03:04:18.112Z')

test('today is a time, another day has its name, another year its number', () => {
  expect(formatTime(new Date('2026-10-23T02:41:07Z'), now, 'utc')).toBe('02:41:07')
  expect(formatTime(new Date('2026-10-22T02:30:00Z'), now, 'utc')).toBe('Thu 22 Oct, 02:30')
  expect(formatTime(new Date('2025-10-22T02:30:00Z'), now, 'utc')).toBe('Wed 22 Oct 2025, 02:30')
})

test('the exact time has milliseconds and its zone', () => {
  expect(formatExactTime(now, 'utc')).toMatch(/23 Oct 2026.*03:04:18\.112 UTC/)
})
