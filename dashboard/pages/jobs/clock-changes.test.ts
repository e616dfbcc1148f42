import { expect, test } from 'vitest'
import { clockChanges } from './clock-changes.ts'

test('only the days on which clocks change have a note', () => {
  const times = [
    '2026-10-24T00:30:00Z',
    '2026-10-25T00:30:00Z',
    '2027-03-28T00:30:00Z',
    '2026-07-01T00:30:00Z',
  ]
  const notes = clockChanges(times, { cron: '30 2 * * *', timezone: 'Europe/Berlin' })
  expect(notes[0]).toBeNull()
  expect(notes[1]).toMatch(/go back/)
  expect(notes[2]).toMatch(/go forward/)
  expect(notes[3]).toBeNull()
  expect(clockChanges(times, { cron: '30 2 * * *', timezone: 'UTC' })).toEqual([null, null, null, null])
})

test('the note says what becomes of the times: fixed ones run once, those of a wildcard follow the clock', () => {
  const notesOf = (cron: string | null) =>
    clockChanges(['2026-10-25T00:30:00Z', '2027-03-28T00:30:00Z'], { cron, timezone: 'Europe/Berlin' })
  expect(notesOf('15,45 2 * * *')).toEqual([
    expect.stringMatching(/runs the first time only/),
    expect.stringMatching(/run once, right after the gap/),
  ])
  expect(notesOf('*/15 * * * *')).toEqual([
    expect.stringMatching(/run twice/),
    expect.stringMatching(/do not run/),
  ])
  expect(notesOf(null)).toEqual([null, null])
})
