import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyPreset, presetNames, presets, saidOver } from './presets.ts'

const anyPreset = fc.constantFrom(...presetNames)
const delay = fc.integer({ min: 100, max: 86_400_000 })

describe('presets', () => {
  it('are those that users know', () => {
    expect(presetNames).toEqual([
      'standard',
      'webhook',
      'high-traffic',
      'development',
      'must-deliver',
      'record-store',
    ])
  })

  it('change nothing when nothing is said over them', () => {
    fc.assert(
      fc.property(anyPreset, (name) => {
        expect(applyPreset(name)).toEqual(presets[name])
        expect(applyPreset(name, { retry: { maxRetries: undefined }, circuit: {} })).toEqual(presets[name])
      }),
    )
  })

  it('give way to every explicit value', () => {
    const overrides = fc.record({
      retry: fc.record(
        { baseDelayMs: delay, maxDelayMs: delay, maxRetries: fc.nat(1000), giveUpAfterMs: delay },
        { requiredKeys: [] },
      ),
      circuit: fc.record({ threshold: fc.nat(1000), cooldownMs: delay }, { requiredKeys: [] }),
      timeoutMs: delay,
    })
    fc.assert(
      fc.property(anyPreset, overrides, (name, explicit) => {
        expect(applyPreset(name, explicit)).toMatchObject(explicit)
      }),
    )
  })

  it('leave what was said over them to their successor, and nothing else', () => {
    fc.assert(
      fc.property(anyPreset, anyPreset, fc.integer({ min: 50, max: 1000 }), (before, after, maxRetries) => {
        const said = saidOver(before, applyPreset(before, { retry: { maxRetries } }))
        expect(applyPreset(after, said)).toEqual(applyPreset(after, { retry: { maxRetries } }))
        expect(applyPreset(after, saidOver(before, presets[before]))).toEqual(presets[after])
      }),
    )
  })

  it('let the base delay or the cap give way, whichever was left unsaid', () => {
    fc.assert(
      fc.property(anyPreset, delay, (name, explicitMs) => {
        for (const explicit of [{ baseDelayMs: explicitMs }, { maxDelayMs: explicitMs }]) {
          const { retry } = applyPreset(name, { retry: explicit })
          expect(retry).toMatchObject(explicit)
          expect(retry.baseDelayMs).toBeLessThanOrEqual(retry.maxDelayMs)
        }
      }),
    )
  })

  it('take the number of retries from an explicit schedule', () => {
    const delaysMs = [1000, 2000, 3000]
    expect(applyPreset('standard', { retry: { strategy: 'schedule', delaysMs } }).retry.maxRetries).toBe(3)
    expect(
      applyPreset('standard', { retry: { strategy: 'schedule', delaysMs, maxRetries: 9 } }).retry.maxRetries,
    ).toBe(9)
  })

  it('drop their schedule for another strategy', () => {
    expect(applyPreset('webhook', { retry: { strategy: 'fixed' } }).retry.delaysMs).toEqual([])
  })
})
