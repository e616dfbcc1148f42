import { describe, expect, it } from 'vitest'
import { formatTraceparent, isTracing, parseTraceparent, tracePublish } from './tracing.ts'

describe('a traceparent', () => {
  const example = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  it('is read and written as W3C says', () => {
    const spanContext = parseTraceparent(example)!
    expect(spanContext).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      traceFlags: 1,
      isRemote: true,
    })
    expect(formatTraceparent(spanContext)).toBe(example)
  })

  it.each([
    undefined,
    42,
    '',
    'nonsense',
    `${example}-more`,
    example.toUpperCase(),
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
  ])('is not %s', (text) => {
    expect(parseTraceparent(text)).toBeNull()
  })
})

it('without a tracing backend nothing is traced or changed', async () => {
  expect(isTracing()).toBe(false)
  const items = [{ payload: 1, headers: {} }]
  expect(await tracePublish('crm', items, (given) => Promise.resolve(given))).toBe(items)
})
