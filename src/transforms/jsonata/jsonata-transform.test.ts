import { afterAll, describe, expect, it } from 'vitest'
import { sampleInput } from '../sample-input.ts'
import type { CompiledTransform, TransformConfigError, TransformResult } from '../transform.ts'
import { jsonataTransform } from './jsonata-transform.ts'

const transform = jsonataTransform()
const compiled: CompiledTransform[] = []
const redos = '$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /^(a+)+$/)'

function compile(config: object): CompiledTransform {
  const one = transform.compile(config)
  compiled.push(one)
  return one
}

async function render(expression: string, payload: unknown = {}, config: object = {}): Promise<string> {
  return show(await compile({ expression, timeoutMs: 1000, ...config }).render(sampleInput(payload)))
}

function show(result: TransformResult): string {
  return result.ok ? result.rendered.body : result.error.code
}

afterAll(async () => {
  await Promise.all(compiled.map(async (one) => one.close()))
})

describe('jsonata', { timeout: 30_000 }, () => {
  it('makes JSON of the payload and of what is known about the message', async () => {
    const expression =
      '{ "total": $sum(lines.(price * quantity)), "id": $messageId, "type": $eventType, "n": $attempt, "from": $metadata.source, "region": $headers.`X-Region`, "at": $createdAt }'
    expect(
      JSON.parse(
        await render(expression, {
          lines: [
            { price: 2, quantity: 3 },
            { price: 1, quantity: 1 },
          ],
        }),
      ),
    ).toEqual({
      total: 7,
      id: 'msg_1',
      type: 'order.created',
      n: 2,
      from: 'shop',
      region: 'eu',
      at: '2030-01-31T09:00:00.000Z',
    })
  })

  it('fails when there is no result, or the result is a function', async () => {
    for (const expression of [
      'nothing',
      '$sum',
      'function($x){$x}',
      '__proto__',
      'constructor',
      '$lookup($, "constructor")',
    ])
      expect([expression, await render(expression)]).toEqual([expression, 'jsonata_no_result'])
  })

  it('says where an expression failed', async () => {
    expect(await compile({ expression: '{ "a": 1 + name }' }).render(sampleInput({ name: 'x' }))).toEqual({
      ok: false,
      error: {
        code: 'jsonata_failed',
        message: 'The right side of the "+" operator must evaluate to a number (T2002), at offset 10.',
      },
    })
  })

  it('stops an expression that does not end, and no message but that one fails', async () => {
    const one = compile({ expression: `id = 50 ? ${redos} : id`, timeoutMs: 200 })
    const results = await Promise.all(
      Array.from({ length: 100 }, async (_, id) => one.render(sampleInput({ id }))),
    )
    expect(results.map(show)).toEqual(
      Array.from({ length: 100 }, (_, id) => (id === 50 ? 'jsonata_timeout' : String(id))),
    )
  })

  it('ends endless recursion with and without growing memory', async () => {
    expect(await render('($f := function($x){ 1 + $f($x) }; $f(1))')).toBe('jsonata_failed')
    expect(await render('($f := function($x){ $f($x) }; $f(1))', {}, { timeoutMs: 50 })).toBe(
      'jsonata_timeout',
    )
    expect(await render('($f := function($x){ $f($x & $x) }; $f("ab"))')).toBe('jsonata_failed')
    expect(await render('[1..9999999]')).toBe('jsonata_failed')
  })

  it('survives an expression that takes more memory than there is', async () => {
    const greedy = compile({ expression: '$split($pad("a", 50000000), "")', timeoutMs: 5000 })
    const modest = compile({ expression: 'id' })
    const results = await Promise.all([greedy.render(sampleInput({})), modest.render(sampleInput({ id: 1 }))])
    expect(results.map(show)).toEqual(['jsonata_memory', '1'])
  })

  it('gives other expressions their turn while one is slow', async () => {
    const order: string[] = []
    const slow = compile({ expression: redos, timeoutMs: 100 })
    const quick = compile({ expression: 'id' })
    const finish = async (name: string, one: CompiledTransform) => {
      await one.render(sampleInput({ id: 1 }))
      order.push(name)
    }
    const work = [finish('slow', slow), finish('slow', slow), finish('slow', slow), finish('quick', quick)]
    await Promise.all(work)
    expect(order.indexOf('quick')).toBeLessThan(2)
  })

  it('lets one message leave nothing behind for the next', async () => {
    expect(await render('$ ~> |$|{"__proto__": {"polluted": 1}, "constructor": 2}|', {})).toMatch(/polluted/)
    expect(await render('$merge([{"__proto__": {"polluted": 1}}]).a', {})).toBe('jsonata_no_result')
    expect(await render('polluted', {})).toBe('jsonata_no_result')
    expect(await render('{ "toString": 1, "seen": $exists(polluted) }', {})).toBe(
      '{"toString":1,"seen":false}',
    )
    expect(await render('($messageId := "x"; $messageId)')).toBe('"x"')
    expect(await render('$messageId')).toBe('"msg_1"')
  })

  it('reaches nothing but its input', async () => {
    for (const name of ['process', 'globalThis', 'require', 'fetch'])
      expect([name, await render(`$exists(${name}) or $exists($${name})`)]).toEqual([name, 'false'])
    expect(await render('$string.constructor("return process")()')).toBe('jsonata_failed')
    expect(await render('$eval("$string(1)")')).toBe('"1"')
  })

  it('passes on numbers that a double can not hold, and refuses to calculate with them', async () => {
    const body = '{"n":12345678901234567890,"third":0.3333333333333333,"k":1e5}'
    expect(await render('{ "n": n, "text": "no " & n, "sum": third + k, $string(n): 1 }', body)).toBe(
      '{"n":12345678901234567890,"text":"no 12345678901234567890","sum":100000.33333333333,"12345678901234567890":1}',
    )
    expect(await render('n + 1', body)).toBe('jsonata_failed')
  })

  it('renders a batch message by message, or as a whole', async () => {
    const inputs = [sampleInput({ id: 1 }), sampleInput({ id: 2 }, { messageId: 'msg_2' })]
    expect(show(await compile({ expression: 'id' }).renderBatch(inputs))).toBe('[1,2]')
    const whole = compile({ expression: '{ "ids": $.id, "messages": $messages.messageId }', batch: true })
    expect(show(await whole.renderBatch(inputs))).toBe('{"ids":[1,2],"messages":["msg_1","msg_2"]}')
    expect(await compile({ expression: 'id' }).renderBatch([...inputs, sampleInput({})])).toMatchObject({
      rendered: { body: '[1,2]' },
      refused: [{ code: 'jsonata_no_result', index: 2 }],
    })
  })

  it('knows when a result may be shared between recipients', () => {
    expect(compile({ expression: 'a & $messageId' }).isCacheable).toBe(true)
    for (const name of ['$now()', '$millis()', '$random()', '$attempt', '$endpoint', '$eval("1")'])
      expect([name, compile({ expression: name }).isCacheable]).toEqual([name, false])
  })

  it('answers what still waits when it is closed, and starts again when it is used again', async () => {
    const own = jsonataTransform()
    const first = own.compile({ expression: redos, timeoutMs: 5000 })
    const waiting = first.render(sampleInput({}))
    await new Promise((resolve) => setImmediate(resolve))
    await first.close()
    expect(await waiting).toMatchObject({
      ok: false,
      error: { code: 'jsonata_unavailable', isRetryable: true },
    })
    const second = own.compile({ expression: '1' })
    expect(show(await second.render(sampleInput({})))).toBe('1')
    await second.close()
  })
})

describe('an expression that can not be used', () => {
  it.each([
    ['{ "a": ', 'expression', 7],
    ['a +', 'expression', 3],
    ['"x', 'expression', 2],
    ['', 'expression', 0],
    ['a'.repeat(17_000), 'expression', 16_384],
    ['['.repeat(16_000), 'expression', null],
  ])('is refused when it is created, with the position (%#)', (expression, path, position) => {
    let error: unknown
    try {
      transform.compile({ expression })
    } catch (caught) {
      error = caught
    }
    expect(error as TransformConfigError).toMatchObject({ path, position })
  })

  it('names a bad time limit', () => {
    for (const timeoutMs of [0, 5001, 1.5, '1'])
      expect(() => transform.compile({ expression: 'a', timeoutMs })).toThrow(
        /timeoutMs must be a whole number from 1 to 5000/,
      )
  })
})
