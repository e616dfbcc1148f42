import { expect, test } from 'vitest'
import { LoopWatch } from './loop-watch.ts'

const limits = { blockedMs: 1000, endMs: 3000, maxGapMs: 200 }

test('a loop that stands still is blocked, then lost, and turning again when it comes round', () => {
  const watch = new LoopWatch(limits)
  const seen = Array.from({ length: 33 }, (_, look) => watch.observe(7, look * 100))
  expect([seen[9], seen[10], seen[29], seen[30]]).toEqual(['turning', 'blocked', 'blocked', 'lost'])
  expect(watch.observe(8, 3300)).toBe('turning')
  expect(watch.stillMs).toBe(0)
})

test('a process that was stopped as a whole is not blocked when it goes on', () => {
  const watch = new LoopWatch(limits)
  watch.observe(7, 0)
  watch.observe(7, 100)
  expect(watch.observe(7, 60_000)).toBe('turning')
  expect(watch.stillMs).toBe(300)
})

test('without a bound a blocked loop is never lost', () => {
  const watch = new LoopWatch({ ...limits, endMs: null })
  for (let atMs = 0; atMs < 100_000; atMs += 100) expect(watch.observe(7, atMs)).not.toBe('lost')
})
