import { expect, test } from 'vitest'
import { acceptedPerSecond, lastOf, perSecond } from './rates.ts'

const at = Date.parse('2030-01-01T10:00:00Z')
const latencyMs = { p50: null, p95: null, p99: null }
const step = (minutes: number, accepted: number | null) => ({
  at: new Date(at + minutes * 60_000).toISOString(),
  accepted,
  delivered: 1800,
  failed: 0,
  backlog: null,
  latencyMs,
})
const quarters = { stepMs: 900_000, series: [step(0, 0), step(15, 1350)] }

test('what is accepted in a new installation shows before its first quarter of an hour is over', () => {
  // Six minutes have passed, of which four and a half are counted: 1,350 events in 270 s.
  expect(acceptedPerSecond(quarters, at + 21 * 60_000)).toEqual([0, 5])
})

test('a step of which hardly a minute is counted is left out', () => {
  expect(lastOf(acceptedPerSecond(quarters, at + 17 * 60_000))).toBe(0)
  expect(
    lastOf(acceptedPerSecond({ stepMs: 60_000, series: [step(0, 300), step(1, null)] }, at + 90_000)),
  ).toBe(5)
})

test('what was delivered in the last step is divided by the time that it has lasted', () => {
  expect(perSecond(quarters, at + 20 * 60_000, ({ delivered }) => delivered)).toEqual([2, 6])
})
