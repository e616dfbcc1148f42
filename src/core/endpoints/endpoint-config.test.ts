import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { type EndpointSettings, parseEndpoint } from './endpoint-config.ts'
import type { endpointInput } from './endpoint-input.ts'
import { presetNames, presets } from './presets.ts'

type Written = z.input<typeof endpointInput>

function accepted(input: Written): EndpointSettings {
  const parsed = parseEndpoint(input)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.value
}

function pathsRefused(input: unknown): string[] {
  const parsed = parseEndpoint(input)
  return parsed.ok ? [] : parsed.problems.map(({ path }) => path)
}

const delayMs = fc.integer({ min: 100, max: 86_400_000 })
const shortMs = fc.integer({ min: 1000, max: 3_600_000 })
const optional = { requiredKeys: [] }

const anyInput: fc.Arbitrary<Written> = fc.record(
  {
    name: fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,62}$/),
    transport: fc.constantFrom('http', 'amqp', 'function'),
    tenant: fc.option(fc.stringMatching(/^[a-z]{1,9}$/)),
    tags: fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 20 }),
    preset: fc.constantFrom(...presetNames),
    config: fc.record(
      {
        url: fc.webUrl(),
        timeoutMs: fc.integer({ min: 100, max: 300_000 }),
        classify: fc.constant({ '409': 'success', '4xx': 'retryable' } as const),
      },
      optional,
    ),
    retry: fc.oneof(
      fc.record(
        {
          strategy: fc.constantFrom('exponential', 'linear', 'fixed'),
          baseDelayMs: delayMs,
          incrementMs: delayMs,
          maxRetries: fc.nat(1000),
          jitter: fc.constantFrom('none', 'full', 'equal'),
        },
        optional,
      ),
      fc.record({
        strategy: fc.constant('schedule'),
        delaysMs: fc.array(delayMs, { minLength: 1, maxLength: 9 }),
      }),
    ),
    circuit: fc.record({ threshold: fc.integer({ min: 1, max: 1000 }), cooldownMs: shortMs }, optional),
    limits: fc.record(
      {
        concurrency: fc.integer({ min: 1, max: 10_000 }),
        ratePerSecond: fc.option(fc.double({ min: 0.001, max: 100_000, noNaN: true })),
      },
      optional,
    ),
    autoDisable: fc.record({ onGone: fc.boolean(), reenableAfterMs: fc.option(shortMs) }, optional),
    onDead: fc.constantFrom('continue', 'block'),
  },
  { requiredKeys: ['name'] },
)

describe('an endpoint', () => {
  it('needs a name and nothing else', () => {
    expect(accepted({ name: 'crm' })).toEqual({
      name: 'crm',
      transport: 'http',
      tenant: null,
      tags: [],
      contact: null,
      preset: 'standard',
      eventTypes: [],
      config: { timeoutMs: 10_000 },
      retry: {
        strategy: 'exponential',
        baseDelayMs: 10_000,
        maxDelayMs: 300_000,
        incrementMs: 30_000,
        maxRetries: 10,
        jitter: 'full',
        giveUpAfterMs: 259_200_000,
        delaysMs: [],
      },
      request: {
        maxRetries: 3,
        baseDelayMs: 1000,
        maxDelayMs: 60_000,
        jitter: 'equal',
        deadlineMs: 30_000,
        retryOn: [],
      },
      circuit: { threshold: 5, cooldownMs: 30_000 },
      limits: { concurrency: 64, ratePerSecond: null, maxPending: 100_000, onFull: 'dead_letter' },
      autoDisable: { onGone: false, threshold: null, windowMs: 3_600_000, reenableAfterMs: null },
      onDead: 'continue',
      batch: null,
    })
  })

  it('keeps every explicit value and is the same when parsed again', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const settings = accepted(input)
        expect(settings).toMatchObject(input)
        expect(parseEndpoint(structuredClone(settings))).toEqual({ ok: true, value: settings })
      }),
    )
  })

  it('has its preset’s retry, circuit and timeout where nothing else is said', () => {
    for (const preset of presetNames) {
      const { retry, request, circuit, config } = accepted({ name: 'crm', preset })
      expect({ retry, request, circuit, timeoutMs: config.timeoutMs }).toEqual(presets[preset])
    }
  })

  it('passes the transport’s own options on unchanged', () => {
    const config = { url: 'https://crm.example', nested: { deep: [1, null] } }
    expect(accepted({ name: 'crm', config }).config).toEqual({ ...config, timeoutMs: 10_000 })
  })

  it('is refused with each unknown field by its name, at any depth', () => {
    const places = ['', 'retry', 'request', 'circuit', 'limits', 'autoDisable']
    for (const place of places) {
      const extra = { colour: 1 }
      const input = place === '' ? { name: 'crm', ...extra } : { name: 'crm', [place]: extra }
      expect(parseEndpoint(input)).toEqual({
        ok: false,
        problems: [
          {
            path: place === '' ? 'colour' : `${place}.colour`,
            message: 'is not a known field: remove it, or check its spelling',
          },
        ],
      })
    }
  })

  it('is refused with the name that was meant, at any depth', () => {
    expect(parseEndpoint({ name: 'crm', tag: [], retry: { maxRetrys: 1 } })).toEqual({
      ok: false,
      problems: [
        { path: 'retry.maxRetrys', message: 'is not a known field: did you mean maxRetries?' },
        { path: 'tag', message: 'is not a known field: did you mean tags?' },
      ],
    })
  })

  it.each([
    ['retry.maxRetries', 0, 1000],
    ['retry.baseDelayMs', 100, 86_400_000],
    ['retry.maxDelayMs', 100, 86_400_000],
    ['request.maxDelayMs', 100, 86_400_000],
    ['request.baseDelayMs', 100, 86_400_000],
    ['retry.incrementMs', 100, 86_400_000],
    ['retry.giveUpAfterMs', 60_000, 2_592_000_000],
    ['request.maxRetries', 0, 1000],
    ['request.deadlineMs', 100, 600_000],
    ['circuit.threshold', 1, 1000],
    ['circuit.cooldownMs', 1000, 3_600_000],
    ['limits.concurrency', 1, 10_000],
    ['limits.ratePerSecond', 0.001, 100_000],
    ['limits.maxPending', 1, 10_000_000],
    ['autoDisable.threshold', 1, 1000],
    ['config.timeoutMs', 100, 300_000],
  ])('takes %s from %d to %d', (path, min, max) => {
    const [group = '', name = ''] = path.split('.')
    const withValue = (value: unknown) => ({ name: 'crm', [group]: { [name]: value } })
    expect(pathsRefused(withValue(min))).toEqual([])
    expect(pathsRefused(withValue(max))).toEqual([])
    for (const wrong of [min - 1, max + 1, Number.NaN, String(min)]) {
      expect(pathsRefused(withValue(wrong))).toEqual([path])
    }
  })

  it.each(['', 'CRM', '-crm', '.crm', 'a b', 'a/b', 'x'.repeat(64), 'crm\n', 7, null])(
    'is never called %j',
    (name) => {
      expect(pathsRefused({ name })).toEqual(['name'])
    },
  )

  it.each<[string, object, string]>([
    [
      'a base delay over an explicit cap',
      { retry: { baseDelayMs: 5000, maxDelayMs: 1000 } },
      'retry.baseDelayMs',
    ],
    [
      'a request’s base delay over its cap',
      { request: { baseDelayMs: 500, maxDelayMs: 400 } },
      'request.baseDelayMs',
    ],
    ['a schedule without delays', { retry: { strategy: 'schedule' } }, 'retry.delaysMs'],
    ['delays without a schedule', { retry: { delaysMs: [1000] } }, 'retry.delaysMs'],
    ['an unknown preset', { preset: 'critical' }, 'preset'],
    ['an unknown strategy', { retry: { strategy: 'random' } }, 'retry.strategy'],
    ['criticality, which belongs to messages', { criticality: 'critical' }, 'criticality'],
    ['21 tags', { tags: Array.from({ length: 21 }, () => 'x') }, 'tags'],
    ['a tag that is no text', { tags: ['a', 1] }, 'tags[1]'],
    ['an override of no status', { config: { classify: { '40': 'success' } } }, 'config.classify.40'],
    ['an override to no class', { config: { classify: { '409': 'fine' } } }, 'config.classify.409'],
    ['a config that is no object', { config: 'https://crm.example' }, 'config'],
    ['NUL in its contact', { contact: 'a\0b' }, 'contact'],
  ])('is refused with %s', (_, fields, path) => {
    expect(pathsRefused({ name: 'crm', ...fields })).toEqual([path])
  })

  it('is refused with all its problems at once, each saying what to do', () => {
    const parsed = parseEndpoint({ name: 'crm', circuit: { threshold: 0 }, onDead: 'stop' })
    expect(parsed).toEqual({
      ok: false,
      problems: [
        { path: 'circuit.threshold', message: 'must be a whole number from 1 to 1000' },
        { path: 'onDead', message: 'must be one of continue, block' },
      ],
    })
  })

  it('is refused, never thrown about, whatever it is made of', () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })
    fc.assert(
      fc.property(
        fc.oneof(anything, fc.record({ name: fc.constant('crm'), retry: anything, config: anything })),
        (input) => {
          const parsed = parseEndpoint(input)
          if (!parsed.ok) expect(parsed.problems.length).toBeGreaterThan(0)
        },
      ),
      { numRuns: 500 },
    )
  })
})
