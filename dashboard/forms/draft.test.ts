import { expect, test } from 'vitest'
import { Form } from './draft.ts'
import { endpointFields } from './endpoint-fields.ts'
import type { Field, Raw } from './field.ts'

const saved = {
  name: 'crm',
  preset: 'standard',
  tags: ['sales'],
  contact: null,
  retry: { maxRetries: 10, strategy: 'exponential' },
  limits: { concurrency: 64, ratePerSecond: null },
  batch: null,
  config: {
    url: 'https://crm.example.com/hooks',
    timeoutMs: 10_000,
    headers: { 'x-team': { isSet: true }, accept: 'application/json' },
    plainHeaders: ['accept'],
    auth: { type: 'bearer', token: { isSet: true } },
  },
}

const form = (entered: Readonly<Record<string, Raw>>): Form => {
  let draft: ReadonlyMap<string, Raw> = new Map()
  for (const [path, raw] of Object.entries(entered)) {
    draft = new Form(endpointFields('http'), saved, draft).with(path, raw)
  }
  return new Form(endpointFields('http'), saved, draft)
}

test('only what has changed is in the body, and the diff says from what to what', () => {
  const changed = form({ 'config.timeoutMs': '20000', 'limits.ratePerSecond': '50', tags: 'sales' })
  expect(changed.body).toEqual({ config: { timeoutMs: 20_000 }, limits: { ratePerSecond: 50 } })
  expect(changed.changes).toEqual([
    { path: 'limits.ratePerSecond', before: 'none', after: '50' },
    { path: 'config.timeoutMs', before: '10000', after: '20000' },
  ])
})

test.each([
  ['retry.maxRetries', '1001', 'Enter 0 to 1,000.'],
  ['retry.maxRetries', 'ten', 'Enter 0 to 1,000.'],
  ['retry.maxRetries', '', 'Enter 0 to 1,000.'],
  ['limits.ratePerSecond', '0', 'Enter 0.001 to 100,000.'],
  ['config.url', '', 'Enter a value.'],
  ['holdOn', '401, 500', '500: Enter 400 to 499.'],
  ['eventTypes', 'order.*, a b', 'a b: “a b” has a space.'],
  ['config.classify', '409: fine', "“fine” isn't one of success, retryable, permanent, gone, throttled."],
])('%s can not be %j', (path, raw, problem) => {
  expect([...form({ [path]: raw }).problems]).toEqual([[path, problem]])
})

test('an empty field that may be null is null', () => {
  const rated = { ...saved, limits: { ...saved.limits, ratePerSecond: 5 } }
  const emptied = new Form(endpointFields('http'), rated, new Map([['limits.ratePerSecond', '']]))
  expect([emptied.body, [...emptied.problems]]).toEqual([{ limits: { ratePerSecond: null } }, []])
})

test('credentials are given whole, and a secret that is not replaced stays', () => {
  expect(form({ 'config.auth.type': 'basic', 'config.auth.username': 'ada' }).problems).toEqual(
    new Map([['config.auth.password', 'Enter a value.']]),
  )
  const basic = form({
    'config.auth.type': 'basic',
    'config.auth.username': 'ada',
    'config.auth.password': 's3cret',
  })
  expect(basic.body).toEqual({ config: { auth: { type: 'basic', username: 'ada', password: 's3cret' } } })
  expect(JSON.stringify(basic.changes)).not.toContain('s3cret')
})

test('headers that are not touched stay, whatever their values are', () => {
  const rows = [
    { name: 'x-team', value: null, isPlain: false },
    { name: 'x-new', value: 'one', isPlain: true },
  ]
  expect(form({ 'config.headers': rows }).body).toEqual({
    config: { headers: { 'x-team': { isSet: true }, 'x-new': 'one' }, plainHeaders: ['x-new'] },
  })
})

test('a part that comes is given whole, and one that goes is null', () => {
  expect(form({ batch: true, 'batch.maxMessages': '100' }).body).toEqual({
    batch: { maxMessages: 100, maxBytes: null },
  })
  const batching = { ...saved, batch: { maxMessages: 100, maxWaitMs: 0 } }
  expect(new Form(endpointFields('http'), batching, new Map([['batch', false]])).body).toEqual({
    batch: null,
  })
})

test('settings are replaced one by one: of an object all that is set, and nothing that nobody has set', () => {
  const fields: readonly Field[] = [
    { path: 'max_pending', description: '', kind: 'integer' },
    { path: 'auto_disable.threshold', description: '', kind: 'integer', isNullable: true },
    { path: 'auto_disable.windowMs', description: '', kind: 'integer' },
    { path: 'defaults.retry.maxRetries', description: '', kind: 'integer' },
    { path: 'defaults.limits.ratePerSecond', description: '', kind: 'number', isNullable: true },
    { path: 'defaults.autoDisable.onGone', description: '', kind: 'flag' },
  ]
  const settings = {
    max_pending: 5,
    auto_disable: { threshold: 5, windowMs: 1000 },
    defaults: { limits: { ratePerSecond: 7 } },
  }
  const replaced = (draft: ReadonlyMap<string, Raw>) => new Form(fields, settings, draft).replaced
  expect(replaced(new Map([['auto_disable.threshold', '']]))).toEqual({
    auto_disable: { threshold: null, windowMs: 1000 },
  })
  expect(replaced(new Map([['defaults.retry.maxRetries', '3']]))).toEqual({
    defaults: { retry: { maxRetries: 3 }, limits: { ratePerSecond: 7 } },
  })
  expect(replaced(new Map([['defaults.limits.ratePerSecond', '']]))).toEqual({ defaults: {} })
})
