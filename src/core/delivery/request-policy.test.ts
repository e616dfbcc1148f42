import { describe, expect, it } from 'vitest'
import { parseEndpoint } from '../endpoints/endpoint-config.ts'
import { presetNames, presets } from '../endpoints/presets.ts'
import { requestDelayMs } from './request-policy.ts'

const policy = { maxRetries: 9, baseDelayMs: 1000, maxDelayMs: 5000, deadlineMs: 30_000, retryOn: [] }

describe('the delays of a request', () => {
  it('are exact without jitter, and double up to the cap', () => {
    const delays = [1, 2, 3, 4, 5].map((tries) =>
      requestDelayMs({ ...policy, jitter: 'none' }, tries, () => 0.3),
    )
    expect(delays).toEqual([1000, 2000, 4000, 5000, 5000])
  })

  it.each([
    ['equal', [500, 750, 1000]],
    ['full', [0, 500, 1000]],
  ] as const)('are spread with %s jitter', (jitter, delays) => {
    expect([0, 0.5, 1].map((random) => requestDelayMs({ ...policy, jitter }, 1, () => random))).toEqual(
      delays,
    )
  })
})

describe('a preset', () => {
  it('tunes request() too, and gives way to what is said', () => {
    for (const preset of presetNames) {
      const parsed = parseEndpoint({ name: 'crm', preset, request: { jitter: 'none' } })
      expect(parsed.ok && parsed.value.request).toEqual({ ...presets[preset].request, jitter: 'none' })
    }
    expect(new Set(presetNames.map((name) => JSON.stringify(presets[name].request))).size).toBeGreaterThan(2)
  })
})
