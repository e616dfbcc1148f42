import { expect, test } from 'vitest'
import { StepPace } from './step-pace.ts'

test('a bulk action takes large steps without rest while nothing is delivered', () => {
  const pace = new StepPace()
  pace.note(400, false)
  expect({ rows: pace.rows(false), restMs: pace.restMs }).toEqual({ rows: 5000, restMs: 0 })
})

test('beside live traffic its steps become short, and it rests as long as a step takes', () => {
  const pace = new StepPace()
  pace.note(200, true)
  expect({ rows: pace.rows(true), restMs: pace.restMs }).toEqual({ rows: 500, restMs: 200 })
  pace.note(20, true)
  expect({ rows: pace.rows(true), restMs: pace.restMs }).toEqual({ rows: 500, restMs: 20 })
})

test('steps grow again by doubling, and are never too small to be worth their planning', () => {
  const pace = new StepPace()
  pace.note(10_000, true)
  expect(pace.rows(true)).toBe(250)
  pace.note(1, true)
  expect(pace.rows(true)).toBe(500)
})

test('the first step after the traffic has ended is as large as can be', () => {
  const pace = new StepPace()
  pace.note(10_000, true)
  pace.note(20, false)
  expect({ rows: pace.rows(false), restMs: pace.restMs }).toEqual({ rows: 5000, restMs: 0 })
})

test('its first step beside live traffic is small: how long a row takes is not known', () => {
  const pace = new StepPace()
  expect(pace.rows(false)).toBe(5000)
  pace.note(400, false)
  expect(pace.rows(true)).toBe(500)
})
