import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LineLength } from './line-length.ts'

const maxRuns = 2000

describe('the length of the local queue', () => {
  let completed: number
  let line: LineLength

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
    completed = 0
    line = new LineLength(maxRuns, () => completed)
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  /** A claim round that took so many runs; until the next one so many end. */
  const round = (ms: number, taken: number, ended: number) => {
    vi.advanceTimersByTime(ms)
    line.adapt(taken)
    completed += ended
  }

  it('grows from 64 to the limit within two rounds, while all runs end within their round', () => {
    round(100, 64, 64)
    round(100, 576, 576)
    expect(line.runs).toBe(512)
    round(100, 2000, 2000)
    expect(line.runs).toBe(maxRuns)
  })

  it('grows to what ends in 0.8 s if the rounds take long', () => {
    round(400, 64, 64)
    round(400, 64, 64)
    expect(line.runs).toBe(128)
  })

  it('holds what ends in 0.2 s at the rate of the last rounds, once runs take longer than a round', () => {
    for (let k = 0; k < 20; k++) round(100, 64, 32)
    expect(line.runs).toBeGreaterThan(60)
    expect(line.runs).toBeLessThanOrEqual(64)
  })

  it('is nothing while no run ends', () => {
    for (let k = 0; k < 10; k++) round(1000, 64, 0)
    expect(line.runs).toBe(0)
  })
})
