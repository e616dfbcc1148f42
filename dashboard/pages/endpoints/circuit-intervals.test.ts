import { expect, test } from 'vitest'
import { circuitIntervals } from './circuit-intervals.ts'

const at = (ms: number): string => new Date(ms).toISOString()
const changes = [
  { at: at(90), from: 'closed', to: 'open' },
  { at: at(40), from: 'half_open', to: 'closed' },
  { at: at(30), from: 'open', to: 'half_open' },
  { at: at(10), from: 'closed', to: 'open' },
] as const

test('a circuit that opened twice', () => {
  expect(circuitIntervals(changes, 'open', 0, 100)).toEqual([
    { state: 'closed', fromMs: 0, toMs: 10 },
    { state: 'open', fromMs: 10, toMs: 30 },
    { state: 'half_open', fromMs: 30, toMs: 40 },
    { state: 'closed', fromMs: 40, toMs: 90 },
    { state: 'open', fromMs: 90, toMs: 100 },
  ])
})

test('what began before the range begins with it', () => {
  expect(circuitIntervals(changes, 'open', 20, 100)[0]).toEqual({ state: 'open', fromMs: 20, toMs: 30 })
})

test('without a change it was as it is now', () => {
  expect(circuitIntervals([], 'closed', 0, 100)).toEqual([{ state: 'closed', fromMs: 0, toMs: 100 }])
})

test('the state now counts, where the last change is not listed yet', () => {
  expect(circuitIntervals(changes.slice(0, 1), 'half_open', 0, 100).at(-1)).toEqual({
    state: 'half_open',
    fromMs: 90,
    toMs: 100,
  })
})
