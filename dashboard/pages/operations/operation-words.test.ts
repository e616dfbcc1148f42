import { expect, test } from 'vitest'
import { filterWords } from './operation-words.ts'

const timeText = (at: Date): string => at.toISOString().slice(11, 16)

test('a filter reads in the order of a sentence, with times as the page shows them', () => {
  expect(
    filterWords(
      { to: '2030-01-01T12:00:00Z', from: '2030-01-01T10:30:00Z', endpoint: 'crm', eventType: 'order.*' },
      timeText,
    ),
  ).toBe('event type order.*, endpoint crm, from 10:30, to 12:00')
  expect(filterWords({ fingerprint: 'a1', ids: ['x', 'y'], to: '2030-01-01T12:00:00Z' }, timeText)).toBe(
    '2 chosen, error a1, to 12:00',
  )
  expect(filterWords({}, timeText)).toBe('everything')
})
