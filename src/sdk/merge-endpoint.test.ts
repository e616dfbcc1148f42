import { expect, test } from 'vitest'
import { parseEndpoint } from '../core/endpoints/endpoint-config.ts'
import { presets } from '../core/endpoints/presets.ts'
import type { EndpointChanges } from '../transports/endpoint-types.ts'
import { mergeEndpoint } from './merge-endpoint.ts'

function updated(before: object, changes: EndpointChanges) {
  const parsed = parseEndpoint({ name: 'crm', config: { url: 'https://crm.example' }, ...before })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  const again = parseEndpoint(mergeEndpoint(parsed.value, changes))
  if (!again.ok) throw new Error(JSON.stringify(again.problems))
  return again.value
}

test('another preset brings its retries, its circuit and its timeout', () => {
  const { preset, retry, circuit, config, request } = updated(
    { preset: 'high-traffic' },
    { preset: 'webhook' },
  )
  expect({ retry, circuit, timeoutMs: config.timeoutMs, request }).toEqual(presets.webhook)
  expect([preset, config['url']]).toEqual(['webhook', 'https://crm.example'])
})

test('what was said over the old preset stays, and what is said with the new one counts', () => {
  const before = { retry: { maxRetries: 4 }, config: { url: 'https://crm.example', timeoutMs: 1234 } }
  const { retry, circuit, config } = updated(before, { preset: 'must-deliver', circuit: { threshold: 7 } })
  expect(retry).toEqual({ ...presets['must-deliver'].retry, maxRetries: 4 })
  expect(circuit).toEqual({ ...presets['must-deliver'].circuit, threshold: 7 })
  expect(config.timeoutMs).toBe(1234)
})

test('without another preset nothing but the change changes', () => {
  const schedule = { strategy: 'schedule', delaysMs: [1000, 2000], maxRetries: 10 } as const
  const { retry, limits } = updated(
    { retry: schedule, preset: 'standard' },
    { preset: 'standard', limits: { concurrency: 2 } },
  )
  expect(retry).toMatchObject(schedule)
  expect(limits).toMatchObject({ concurrency: 2, maxPending: 100_000 })
})
