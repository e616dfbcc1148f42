import { EventEmitter } from 'node:events'
import { expect, test, vi } from 'vitest'
import { firstStopSignal, whenOrphaned } from './stop-signal.ts'

function watch() {
  const source = new EventEmitter()
  const exits: number[] = []
  let nowMs = 0
  const first = firstStopSignal({ source, nowMs: () => nowMs, exit: (code) => exits.push(code) })
  return { source, exits, first, pass: (milliseconds: number) => void (nowMs += milliseconds) }
}

test('the first signal is a request to stop', async () => {
  const { source, exits, first } = watch()
  source.emit('SIGTERM')
  expect(await first).toBe('SIGTERM')
  expect(exits).toEqual([])
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a second signal, %s, ends the process at once with %i', (signal, code) => {
  const { source, exits, pass } = watch()
  source.emit('SIGINT')
  pass(1000)
  source.emit(signal)
  expect(exits).toEqual([code])
})

test('what npm passes on of the same Ctrl-C is no second signal', () => {
  const { source, exits, pass } = watch()
  source.emit('SIGINT')
  pass(20)
  source.emit('SIGINT')
  expect(exits).toEqual([])
})

test('the end of the process that started us is a request to stop', async () => {
  const parentPid = vi.fn(() => 100)
  const resolved = vi.fn()
  const orphaned = whenOrphaned({ parentPid, everyMs: 5 })
  void orphaned.then(resolved)
  await expect.poll(() => parentPid.mock.calls.length).toBeGreaterThan(3)
  expect(resolved).not.toHaveBeenCalled()
  parentPid.mockReturnValue(1)
  expect(await orphaned).toBe('SIGTERM')
})
