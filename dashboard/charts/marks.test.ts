import { expect, test } from 'vitest'
import { lettersOf, markChanges } from './marks.ts'

const ago = (minutes: number) => ({
  at: new Date(Date.now() - minutes * 60_000).toISOString(),
  action: 'route.updated',
  subject: `route:r${minutes}`,
})

test('the oldest change in the chart is A, and what is before the chart has no letter', () => {
  const marks = markChanges([ago(5), ago(20), ago(50), ago(90)], 3_600_000)
  expect(marks.map(({ letter }) => letter)).toEqual(['C', 'B', 'A', null])
  expect(lettersOf(marks).map(({ letter }) => letter)).toEqual(['C', 'B', 'A'])
})

test('eight changes at most are marked', () => {
  const marks = markChanges(
    Array.from({ length: 30 }, (_, k) => ago(k)),
    3_600_000,
  )
  expect(marks).toHaveLength(8)
  expect(marks[0]?.letter).toBe('H')
})
