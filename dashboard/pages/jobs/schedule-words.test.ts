import { expect, test } from 'vitest'
import { cronWords } from './schedule-words.ts'

test.each([
  ['30 2 * * *', 'Every day at 02:30'],
  ['0 30 2 * * *', 'Every day at 02:30'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['*/10 * * * * *', 'Every 10 seconds'],
  ['*/10 5 * * * *', null],
  ['* * * * *', 'Every minute'],
  ['5 * * * *', 'Every hour at minute 5'],
  ['0 9 * * 1-5', 'Monday to Friday at 09:00'],
  ['0 9 * * 7', 'Every Sunday at 09:00'],
  ['0 3 1 * *', 'On day 1 of every month at 03:00'],
  ['0 3 1 1-6 *', null],
  ['1,2 3 * * *', null],
])('%s is %s', (cron, words) => {
  expect(cronWords(cron)).toBe(words)
})
