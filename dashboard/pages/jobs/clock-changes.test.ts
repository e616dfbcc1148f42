import { expect, test } from 'vitest'
import { clockChanges } from './clock-changes.ts'

test('only the days on which clocks change have a note', () => {
  const times = [
    '2026-10-24T00:30:00Z',
    '2026-10-25T00:30:00Z',
    '2027-03-28T00:30:00Z',
    '2026-07-01T00:30:00Z',
  ]
  const notes = clockChanges(times, 'Europe/Berlin')
  expect(notes[0]).toBeNull()
  expect(notes[1]).toMatch(/go back/)
  expect(notes[2]).toMatch(/go forward/)
  expect(notes[3]).toBeNull()
  expect(clockChanges(times, 'UTC')).toEqual([null, null, null, null])
})
