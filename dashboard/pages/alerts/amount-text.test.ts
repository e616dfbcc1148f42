import { expect, test } from 'vitest'
import { amountText, thresholdText } from './amount-text.ts'

test('what an alert counts has its unit; kinds without a threshold have no amount', () => {
  expect(amountText('backlog_age', 191.67)).toBe('3 min')
  expect(amountText('failure_rate', 0.5)).toBe('50.0 %')
  expect(amountText('dead_letter_rate', 12.3456)).toBe('12.35 per minute')
  expect(amountText('dead_letters', 10_400)).toBe('10,400')
  expect(amountText('endpoint_disabled', 191.67)).toBe(null)
})

test('a rule says on which side of its threshold it fires', () => {
  expect(thresholdText('backlog_age', 900)).toBe('above 15 min')
  expect(thresholdText('broker_dead_letter_rate', 10)).toBe('above 10 per minute')
  expect(thresholdText('disk_low', 0.1)).toBe('below 10.0 %')
  expect(thresholdText('endpoint_disabled', 0)).toBe('when found')
})
