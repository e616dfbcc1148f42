import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { giveUpThresholdMs, type Pause } from './give-up.ts'

const nowMs = 200
const anyPauses: fc.Arbitrary<Pause[]> = fc.array(
  fc.record({ fromMs: fc.integer({ min: 0, max: 250 }), toMs: fc.option(fc.integer({ min: 0, max: 250 })) }),
  { maxLength: 6 },
)

/** The definition itself, millisecond by millisecond: slow and obviously right. */
function unpausedMs(fromMs: number, pauses: readonly Pause[]): number {
  let count = 0
  for (let instant = fromMs; instant < nowMs; instant += 1) {
    const isPaused = pauses.some((pause) => pause.fromMs <= instant && instant < (pause.toMs ?? nowMs))
    if (!isPaused) count += 1
  }
  return count
}

describe('the threshold of giving up', () => {
  it('is the latest due time that has been owed long enough, over any pauses', () => {
    fc.assert(
      fc.property(anyPauses, fc.integer({ min: 1, max: 150 }), (pauses, giveUpAfterMs) => {
        const thresholdMs = giveUpThresholdMs({ nowMs, giveUpAfterMs, pauses })
        expect(unpausedMs(thresholdMs, pauses)).toBeGreaterThanOrEqual(giveUpAfterMs)
        expect(unpausedMs(thresholdMs + 1, pauses)).toBeLessThan(giveUpAfterMs)
      }),
      { numRuns: 500 },
    )
  })

  it('lies the given time back when nothing was paused', () => {
    expect(giveUpThresholdMs({ nowMs: 1000, giveUpAfterMs: 300, pauses: [] })).toBe(700)
  })

  it('is paused while a pause lasts', () => {
    const pauses = [{ fromMs: 500, toMs: null }]
    const atMs = (nowMs: number) => giveUpThresholdMs({ nowMs, giveUpAfterMs: 300, pauses })
    expect(atMs(600)).toBe(200)
    expect(atMs(6000)).toBe(200)
  })

  it('never gives up earlier because of a pause', () => {
    fc.assert(
      fc.property(anyPauses, fc.nat(150), (pauses, giveUpAfterMs) => {
        expect(giveUpThresholdMs({ nowMs, giveUpAfterMs, pauses })).toBeLessThanOrEqual(nowMs - giveUpAfterMs)
      }),
    )
  })
})
