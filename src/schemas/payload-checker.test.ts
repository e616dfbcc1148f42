import { afterEach, describe, expect, it } from 'vitest'
import { PayloadChecker } from './payload-checker.ts'

const schema = { type: 'object', required: ['id'] }

describe('a checker of payloads', () => {
  let checker: PayloadChecker
  afterEach(() => checker.stop())
  const unbounded = { maxRequests: Number.POSITIVE_INFINITY, maxLength: Number.POSITIVE_INFINITY }

  it('names the first payload that fails, and where', async () => {
    checker = new PayloadChecker(unbounded)
    const items = ['{"id":1}', '{}', '[]'].map((body) => ({ schema, body }))
    expect(await checker.check(items)).toMatchObject({
      kind: 'failed',
      index: 1,
      code: 'schema_violation',
      failures: [{ path: 'id' }],
    })
    expect(await checker.check(items.slice(0, 1))).toEqual({ kind: 'ok' })
    expect(await checker.check([])).toEqual({ kind: 'ok' })
  })

  it('says what is wrong with a schema', async () => {
    checker = new PayloadChecker(unbounded)
    expect(await checker.parse({ type: 'objekt' })).toMatchObject({ ok: false })
    expect(await checker.parse({ pattern: '(?=a)' })).toMatchObject({
      ok: false,
      problems: [{ path: 'pattern' }],
    })
    expect(await checker.parse(schema)).toEqual({ ok: true, value: true })
  })

  it('refuses what would have to wait beyond its bounds, and checks all the rest', async () => {
    checker = new PayloadChecker({ maxRequests: 10, maxLength: 1000 })
    const results = await Promise.all(
      Array.from({ length: 30 }, async () => checker.check([{ schema, body: '{"id":1}' }])),
    )
    // One under way, ten waiting.
    expect(results.map(({ kind }) => kind)).toEqual([
      ...Array.from({ length: 11 }, () => 'ok'),
      ...Array.from({ length: 19 }, () => 'busy'),
    ])
    const long = { schema, body: `{"id":"${'x'.repeat(2000)}"}` }
    expect(await checker.check([long])).toEqual({ kind: 'busy' })
  })

  it('answers waiting requests when it is stopped, and can be started again', async () => {
    checker = new PayloadChecker(unbounded)
    const waiting = Promise.all(
      Array.from({ length: 5 }, async () => checker.check([{ schema, body: '{}' }])),
    )
    checker.stop()
    expect(new Set((await waiting).map(({ kind }) => kind))).toEqual(new Set(['busy']))
    expect(await checker.check([{ schema, body: '{"id":1}' }])).toEqual({ kind: 'ok' })
  })
})
