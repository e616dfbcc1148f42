import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJobSettings } from './job-settings.ts'
import { decideRun, type RunEnding, type RunState, runTransitions } from './run-decision.ts'

const parsed = parseJobSettings({ retry: { maxRetries: 3, baseDelayMs: 1000, jitter: 'none' } })
if (!parsed.ok) throw new Error('invalid')
const settings = parsed.value

const ending = fc.oneof(
  fc.constant<RunEnding>({ kind: 'succeeded' }),
  fc.record({
    kind: fc.constant('failed' as const),
    isPermanent: fc.boolean(),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 1_000_000 })),
  }),
  fc.constantFrom<RunEnding>(
    { kind: 'timed_out' },
    { kind: 'cancelled' },
    { kind: 'expired' },
    { kind: 'released' },
  ),
)

test('every decision about a running run leads to a state that the table knows', () => {
  fc.assert(
    fc.property(ending, fc.integer({ min: 1, max: 10 }), (each, attempt) => {
      const { action, delayMs } = decideRun(each, attempt, settings, Math.random)
      expect(runTransitions.running).toHaveProperty(action)
      expect(delayMs === null || delayMs >= 0).toBe(true)
      expect(action === 'retry').toBe(delayMs !== null)
    }),
  )
})

test('a run that always fails is tried once and as often again as its policy says, whatever it fails with', () => {
  const failing = fc.array(
    fc.constantFrom<RunEnding>(
      { kind: 'timed_out' },
      { kind: 'failed', isPermanent: false, retryAfterMs: 5 },
      {
        kind: 'failed',
        isPermanent: false,
        retryAfterMs: null,
      },
    ),
    { minLength: 20, maxLength: 20 },
  )
  fc.assert(
    fc.property(failing, (endings) => {
      let attempt = 0
      let action: string
      do action = decideRun(endings[attempt++]!, attempt, settings, Math.random).action
      while (action === 'retry')
      expect([action, attempt]).toEqual(['dead', 4])
    }),
  )
})

test('any walk through the table ends only in states that nothing leads out of, but for a failure', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 30 }), (choices) => {
      let state = 'waiting' as RunState
      for (const choice of choices) {
        const next = Object.values(runTransitions[state])
        if (next.length === 0) break
        state = next[choice % next.length]!
      }
      if (['succeeded', 'cancelled', 'expired'].includes(state)) {
        expect(Object.keys(runTransitions[state])).toEqual([])
      }
    }),
  )
})

test('a permanent failure dies at once, a release and an expiry count nothing', () => {
  expect(
    decideRun({ kind: 'failed', isPermanent: true, retryAfterMs: null }, 1, settings, Math.random),
  ).toMatchObject({
    action: 'dead',
    reason: 'permanent',
  })
  expect(decideRun({ kind: 'released' }, 4, settings, Math.random)).toMatchObject({
    action: 'release',
    isCounted: false,
  })
  expect(decideRun({ kind: 'expired' }, 4, settings, Math.random)).toMatchObject({
    action: 'expire',
    isCounted: false,
  })
})

test('a chosen delay wins over the policy, and the policy doubles', () => {
  const failed = (retryAfterMs: number | null): RunEnding => ({
    kind: 'failed',
    isPermanent: false,
    retryAfterMs,
  })
  expect(decideRun(failed(42), 1, settings, Math.random).delayMs).toBe(42)
  expect([1, 2, 3].map((attempt) => decideRun(failed(null), attempt, settings, Math.random).delayMs)).toEqual(
    [1000, 2000, 4000],
  )
})
