import { expect, test } from 'vitest'
import { applyPreset } from '../../../src/core/endpoints/presets.ts'
import { Form } from '../../forms/draft.ts'
import { endpointFields } from '../../forms/endpoint-fields.ts'
import { withPreset } from './preset-draft.ts'

const fields = endpointFields('http')

function savedAs(preset: 'standard' | 'development', overrides: Parameters<typeof applyPreset>[1] = {}) {
  const { timeoutMs, ...policies } = applyPreset(preset, overrides)
  return { preset, ...policies, batch: null, holdOn: [], config: { url: 'https://a.example', timeoutMs } }
}

test('another preset brings its values, and what was said over the old one stays', () => {
  const saved = savedAs('standard', { retry: { maxRetries: 7 } })
  const draft = withPreset(fields, saved, new Map(), 'high-traffic')
  expect(new Form(fields, saved, draft).body).toEqual({
    preset: 'high-traffic',
    retry: { baseDelayMs: 1000 },
    request: { maxRetries: 2, deadlineMs: 10_000 },
    circuit: { threshold: 10, cooldownMs: 60_000 },
    config: { timeoutMs: 3000 },
  })
})

test('back to the saved one leaves no change but those of other fields', () => {
  const saved = savedAs('standard')
  const changed = withPreset(fields, saved, new Map([['contact', 'ops@example.com']]), 'development')
  expect([...withPreset(fields, saved, changed, 'standard').keys()]).toEqual(['contact'])
})

test('a preset with batches brings them', () => {
  const saved = savedAs('standard')
  const { body } = new Form(fields, saved, withPreset(fields, saved, new Map(), 'record-store'))
  expect(body).toMatchObject({ batch: { maxMessages: 100, maxWaitMs: 1000 }, holdOn: [401, 403] })
})
