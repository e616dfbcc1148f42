import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { InFlightCall, InFlightCalls } from './in-flight-calls.ts'

class RecordedCall extends InFlightCall {
  readonly calls: InFlightCalls
  ending: 'none' | 'deadline' | 'abort' = 'none'

  constructor(calls: InFlightCalls) {
    super(performance.now())
    this.calls = calls
  }

  override onDeadline(): void {
    if (this.calls.remove(this)) this.ending = 'deadline'
  }

  override onAbort(): void {
    if (this.calls.remove(this)) this.ending = 'abort'
  }
}

const timeoutMs = 1_000

function listenerCount(controller: AbortController): number {
  return getEventListeners(controller.signal, 'abort').length
}

describe('InFlightCalls', () => {
  let calls: InFlightCalls
  const start = (controller: AbortController): RecordedCall => {
    const call = new RecordedCall(calls)
    calls.add(call, controller.signal)
    return call
  }

  beforeEach(() => {
    vi.useFakeTimers()
    calls = new InFlightCalls(timeoutMs)
  })
  afterEach(() => {
    calls.dispose()
    vi.useRealTimers()
  })

  it('ends each call at its own deadline with one timer for all', () => {
    const controller = new AbortController()
    const first = start(controller)
    vi.advanceTimersByTime(400)
    const second = start(controller)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(600)
    expect([first.ending, second.ending]).toEqual(['deadline', 'none'])
    vi.advanceTimersByTime(400)
    expect(second.ending).toBe('deadline')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('goes on when a call does nothing at its deadline', () => {
    class StubbornCall extends RecordedCall {
      override onDeadline(): void {}
    }
    calls.add(new StubbornCall(calls), new AbortController().signal)
    const other = start(new AbortController())
    vi.advanceTimersByTime(timeoutMs)
    expect([calls.size, other.ending]).toEqual([0, 'deadline'])
  })

  it('leaves a finished call alone when its deadline passes', () => {
    const call = start(new AbortController())
    expect(calls.remove(call)).toBe(true)
    vi.advanceTimersByTime(timeoutMs * 2)
    expect(call.ending).toBe('none')
    expect(calls.remove(call)).toBe(false)
  })

  it('aborts the calls of the signal that fired and no others', () => {
    const stopped = new AbortController()
    const untouched = new AbortController()
    const ended = [start(stopped), start(stopped)]
    const other = start(untouched)
    stopped.abort()
    expect(ended.map((call) => call.ending)).toEqual(['abort', 'abort'])
    expect(other.ending).toBe('none')
  })

  it('keeps one listener on a signal that many calls share, also between calls', () => {
    const controller = new AbortController()
    for (let round = 0; round < 20; round += 1) calls.remove(start(controller))
    start(controller)
    start(controller)
    expect(listenerCount(controller)).toBe(1)
  })

  it('releases a signal once its calls have ended and another one is in use', () => {
    const former = new AbortController()
    const current = new AbortController()
    const call = start(former)
    start(current)
    expect(listenerCount(former)).toBe(1)
    calls.remove(call)
    expect(listenerCount(former)).toBe(0)
    calls.dispose()
    expect(listenerCount(current)).toBe(0)
  })

  it('is idle when the last call has ended', async () => {
    const controller = new AbortController()
    const [first, second] = [start(controller), start(controller)]
    const idle = calls.whenIdle().then(() => 'idle')
    calls.remove(second)
    expect(await Promise.race([idle, Promise.resolve('busy')])).toBe('busy')
    calls.remove(first)
    expect(await idle).toBe('idle')
  })
})
