import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxHeadersBytes, parseSendOptions, type SendOptions, type SendOptionsInput } from './send-options.ts'

function accepted(input: SendOptionsInput): SendOptions {
  const parsed = parseSendOptions(input)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.value
}

function pathsRefused(input: unknown): string[] {
  const parsed = parseSendOptions(input)
  return parsed.ok ? [] : parsed.problems.map(({ path }) => path)
}

describe('send options', () => {
  it('may be empty', () => {
    expect(accepted({})).toEqual({})
  })

  it('come back as they were given', () => {
    const options: SendOptionsInput = {
      type: 'order.created',
      tenant: 'acme',
      idempotencyKey: 'k'.repeat(255),
      orderingKey: 'order-7',
      priority: 3,
      deliverAt: new Date('2030-01-01T00:00:00Z'),
      expiresAt: new Date('2030-01-02T00:00:00Z'),
      criticality: 'best_effort',
      correlationId: 'trace 1',
      headers: { 'x-trace': 'ä\tb', empty: '' },
      metadata: { user: { id: 7, tags: ['a', null, true] } },
    }
    expect(accepted(options)).toEqual(options)
  })

  it('take a time as a Date or as ISO text with any zone', () => {
    const anyDate = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    fc.assert(
      fc.property(anyDate, (date) => {
        expect(accepted({ deliverAt: date.toISOString() }).deliverAt).toEqual(date)
        expect(accepted({ deliverAt: date }).deliverAt).toEqual(date)
      }),
    )
    expect(accepted({ expiresAt: '2030-01-31T09:00:00+02:00' }).expiresAt).toEqual(
      new Date('2030-01-31T07:00:00Z'),
    )
  })

  it.each<[string, object, string]>([
    ['an unknown option', { orderKey: 'x' }, 'orderKey'],
    ['a priority of 4', { priority: 4 }, 'priority'],
    ['a priority between', { priority: 1.5 }, 'priority'],
    ['an empty key', { idempotencyKey: '' }, 'idempotencyKey'],
    ['a key of 256 characters', { orderingKey: 'k'.repeat(256) }, 'orderingKey'],
    ['NUL in a key', { orderingKey: 'a\0' }, 'orderingKey'],
    ['half a surrogate pair in a key', { correlationId: '\ud83d' }, 'correlationId'],
    ['a type with a space', { type: 'order created' }, 'type'],
    ['a type that is a pattern', { type: 'order.*' }, 'type'],
    ['a time without a zone', { deliverAt: '2030-01-31T09:00:00' }, 'deliverAt'],
    ['a time that is a number', { deliverAt: 1_900_000_000_000 }, 'deliverAt'],
    ['an invalid Date', { deliverAt: new Date('x') }, 'deliverAt'],
    ['a day that does not exist', { deliverAt: '2030-02-30T09:00:00Z' }, 'deliverAt'],
    ['a year of five digits', { expiresAt: new Date(8.64e15) }, 'expiresAt'],
    [
      'an end before its beginning',
      { deliverAt: '2030-01-02T00:00:00Z', expiresAt: '2030-01-01T00:00:00Z' },
      'expiresAt',
    ],
    ['an unknown criticality', { criticality: 'high' }, 'criticality'],
    ['a header name with a space', { headers: { 'x trace': '1' } }, 'headers.x trace'],
    ['a header with a line break', { headers: { x: 'a\r\nset-cookie: b' } }, 'headers.x'],
    ['a header that HTTP can’t carry', { headers: { x: '→' } }, 'headers.x'],
    ['a header that is a number', { headers: { x: 1 } }, 'headers.x'],
    [
      '65 headers',
      { headers: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`x-${n}`, ''])) },
      'headers',
    ],
    ['headers of over 8 KiB', { headers: { x: 'v'.repeat(maxHeadersBytes) } }, 'headers'],
    ['metadata that is a list', { metadata: [1] }, 'metadata'],
    ['metadata with NUL deep inside', { metadata: { a: ['x\0'] } }, 'metadata'],
    ['metadata with half a surrogate pair', { metadata: { '\udc00': 1 } }, 'metadata'],
    ['metadata of over 8 KiB', { metadata: { a: 'x'.repeat(8192) } }, 'metadata'],
  ])('are refused with %s', (_, options, path) => {
    expect(pathsRefused(options)).toEqual([path])
  })

  it('take metadata that only looks like an escape', () => {
    const metadata = { path: String.raw`C:\u0000`, smile: '😀' }
    expect(accepted({ metadata }).metadata).toEqual(metadata)
  })

  it('are refused, never thrown about, whatever they are made of', () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true })
    fc.assert(
      fc.property(fc.oneof(anything, fc.record({ metadata: anything, headers: anything })), (input) => {
        const parsed = parseSendOptions(input)
        if (!parsed.ok) expect(parsed.problems.length).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
  })
})
