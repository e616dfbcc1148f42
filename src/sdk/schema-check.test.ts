import { afterEach, expect, test, vi } from 'vitest'
import { intakeChecks } from '../schemas/payload-checker.ts'
import type { EventBody } from '../storage/events.ts'
import { checkEvents } from './schema-check.ts'

afterEach(() => vi.restoreAllMocks())

const events = Array.from({ length: 5 }, (_, n) => ({
  id: n + 1,
  body: '{}',
  size: 2,
  createdAt: new Date(0),
  erasedAt: null,
})) as unknown as EventBody[]

/** Checks that take so long, one after the other. */
function takes(...durationsMs: number[]): void {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  vi.spyOn(intakeChecks, 'check').mockImplementation(async () => {
    nowMs += durationsMs.shift() ?? 0
    return { kind: 'ok' }
  })
}

test('the time that the thread takes to start is not taken from the events', async () => {
  takes(5000)
  expect(await checkEvents({}, events)).toMatchObject({ checked: 5, failed: 0 })
})

test('a check ends when its events take too long', async () => {
  takes(5000, 700, 700, 700)
  expect(await checkEvents({}, events)).toMatchObject({ checked: 3 })
})
