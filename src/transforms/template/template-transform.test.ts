import { describe, expect, it, vi } from 'vitest'
import { sampleInput } from '../sample-input.ts'
import type { TransformConfigError, TransformInput } from '../transform.ts'
import { templateTransform } from './template-transform.ts'

const order = {
  id: 7,
  total: 12.5,
  paid: true,
  note: null,
  customer: { name: 'Ada "A"', 'e-mail': 'ada@example.com' },
  items: [{ sku: 'x1' }, { sku: 'x2' }],
}

async function render(config: object, payload: unknown = order, changes: Partial<TransformInput> = {}) {
  const result = await templateTransform().compile(config).render(sampleInput(payload, changes))
  return result.ok ? result.rendered.body : result.error.code
}

async function value(template: unknown, payload?: unknown, changes?: Partial<TransformInput>) {
  return JSON.parse(await render({ template }, payload, changes)) as unknown
}

function refusal(config: object): TransformConfigError {
  try {
    templateTransform().compile(config)
  } catch (error) {
    return error as TransformConfigError
  }
  throw new Error('was accepted')
}

describe('a template', () => {
  it('keeps the type of a value that is a placeholder as a whole', async () => {
    const template = { a: '{{ id }}', b: '{{ paid }}', c: '{{note}}', d: '{{ items[0] }}', e: '{{ total }}' }
    expect(await value(template)).toEqual({ a: 7, b: true, c: null, d: { sku: 'x1' }, e: 12.5 })
  })

  it('puts values into longer texts, escaped', async () => {
    expect(
      await value({ text: 'Hello {{ customer.name }}, {{ id }}/{{ paid }}{{ note }} {{ items }}' }),
    ).toEqual({ text: 'Hello Ada "A", 7/true [{"sku":"x1"},{"sku":"x2"}]' })
  })

  it('reads nested paths, indexes from both ends, and names that need quotes', async () => {
    expect(
      await value(['{{ items[1].sku }}', '{{ items.0.sku }}', '{{ items[-1].sku }}', '{{ ["id"] }}']),
    ).toEqual(['x2', 'x1', 'x2', 7])
    for (const path of ['customer["e-mail"]', "customer['e-mail']", 'customer.e-mail'])
      expect(await value(`{{ ${path} }}`)).toBe('ada@example.com')
  })

  it('takes the first value that is there and is not null, in a chain of defaults', async () => {
    const template = {
      a: '{{ nothing ?? "x" }}',
      b: '{{ note ?? 3 }}',
      c: '{{ nothing ?? note ?? id }}',
      d: '{{ nothing ?? [] }}',
      e: '{{ nothing ?? {"a": {"b": [1]}} }}',
      f: '{{ nothing ?? null }}',
      g: '{{ nothing.at.all ?? note }}',
      h: "Dear {{ nothing ?? 'friend' }}",
    }
    expect(await value(template)).toEqual({
      a: 'x',
      b: 3,
      c: 7,
      d: [],
      e: { a: { b: [1] } },
      f: null,
      g: null,
      h: 'Dear friend',
    })
  })

  it('knows the message, the attempt and the clock', async () => {
    const names = [
      'now',
      'messageId',
      'deliveryId',
      'eventType',
      'tenant',
      'correlationId',
      'endpoint',
      'attempt',
    ]
    const template = Object.fromEntries([...names, 'createdAt'].map((name) => [name, `{{ $${name} }}`]))
    expect(
      await value({ ...template, source: '{{ $metadata.source }}', region: '{{ $headers.x-region }}' }),
    ).toEqual({
      now: '2030-01-31T09:00:05.000Z',
      messageId: 'msg_1',
      deliveryId: 'dlv_1',
      eventType: 'order.created',
      tenant: 'acme',
      correlationId: null,
      endpoint: 'crm',
      attempt: 2,
      createdAt: '2030-01-31T09:00:00.000Z',
      source: 'shop',
      region: 'eu',
    })
  })

  it('may be the text of JSON, with placeholders outside and inside of quotes', async () => {
    const template =
      '{ "id": {{ id }}, "name": "{{ nothing ?? "no one" }}", "n": [1, -2.50, {{ $ }}], "e": "\\u0041" }'
    expect(await render({ template })).toBe(
      `{"id":7,"name":"no one","n":[1,-2.50,${JSON.stringify(order)}],"e":"A"}`,
    )
    expect(await render({ template: '{"name": "{{ nothing ?? \\"x\\" }}"}' })).toBe('{"name":"x"}')
  })

  it('sends the event byte for byte when it is empty, or is the payload', async () => {
    const body = '{ "a" : 1.0,\n"a":2 }'
    for (const template of [undefined, null, '', '  ', '{{ $ }}', '{{ $payload }}'])
      expect(await render({ template }, body)).toBe(body)
  })

  it('writes two literal braces for \\{{', async () => {
    expect(await value({ a: '\\{{ id }}', b: 'x \\{{ {{ id }}' })).toEqual({ a: '{{ id }}', b: 'x {{ 7' })
    expect(await value('{"a": "\\{{ id }}"}')).toEqual({ a: '{{ id }}' })
  })

  it('renders names of fields too', async () => {
    expect(await value({ 'order-{{ id }}': 1 })).toEqual({ 'order-7': 1 })
  })

  it('loses no digit of a number', async () => {
    const body =
      '{"big":12345678901234567890,"fine":0.12345678901234567890,"far":1e400,"text":"12345678901234567890"}'
    expect(
      await render({ template: '{"a":{{ big }},"b":"{{ fine }}","c":{{ far }},"d":{{ text }}}' }, body),
    ).toBe('{"a":12345678901234567890,"b":0.12345678901234567890,"c":1e400,"d":"12345678901234567890"}')
    expect(
      await render(
        { template: { all: '{{ o }}', t: 'n={{ o.n }}' } },
        '{"o":{"n":-9007199254740993,"z":[1]}}',
      ),
    ).toBe('{"all":{"n":-9007199254740993,"z":[1]},"t":"n=-9007199254740993"}')
  })

  it('reaches no prototype, and carries a __proto__ key like any other', async () => {
    expect(await render({ template: '{{ __proto__.x }}' }, '{"__proto__":{"x":1}}')).toBe('1')
    expect(await render({ template: '{{ o }}' }, '{"o":{"__proto__":{"x":1}}}')).toBe('{"__proto__":{"x":1}}')
    expect(await render({ template: '{"__proto__":{"a":{{ id }}}}' })).toBe('{"__proto__":{"a":7}}')
    for (const path of ['__proto__', 'constructor', 'items.length', 'customer.toString', 'id.toFixed'])
      expect(await render({ template: `{{ ${path} }}` })).toBe('template_missing_value')
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('fails on a value that is missing, and says which and where', async () => {
    const compiled = templateTransform().compile({ template: { user: { mail: '{{ user.email }}' } } })
    expect(await compiled.render(sampleInput(order))).toEqual({
      ok: false,
      error: {
        code: 'template_missing_value',
        message:
          '{{ user.email }} at template.user.mail: this message has no such value. Give a default, like {{ user.email ?? null }}, or set "missing".',
      },
    })
  })

  it('writes null for a missing value, or leaves it out, when configured', async () => {
    const template = { a: '{{ nope }}', b: ['{{ nope }}', 1], c: 'x{{ nope }}', d: '{{ id }}' }
    expect(await render({ template, missing: 'null' })).toBe('{"a":null,"b":[null,1],"c":"x","d":7}')
    expect(await render({ template, missing: 'omit' })).toBe('{"b":[1],"c":"x","d":7}')
    expect(await render({ template: '{{ nope }}', missing: 'omit' })).toBe('null')
  })

  it('can be shared between recipients unless it looks at the attempt, the delivery, the endpoint or the clock', () => {
    const isCacheable = (template: unknown) => templateTransform().compile({ template }).isCacheable
    expect(isCacheable({ a: '{{ id }} {{ $messageId }} {{ $tenant }}' })).toBe(true)
    expect(isCacheable('')).toBe(true)
    for (const name of ['now', 'attempt', 'deliveryId', 'endpoint'])
      expect(isCacheable(`{{ $${name} }}`)).toBe(false)
  })

  it('does not multiply a large payload without end', async () => {
    const template = Array.from({ length: 40 }, () => '{{ big }}')
    expect(await render({ template }, { big: 'x'.repeat(1_000_000) })).toBe('rendered_too_large')
  })

  it('counts the escapes of a text, which make it six times as long', async () => {
    const template = Array.from({ length: 20 }, () => 'x{{ big }}')
    expect(await render({ template }, { big: '\u0001'.repeat(150_000) })).toBe('rendered_too_large')
  })

  it('writes a large object once, however many placeholders have it', async () => {
    const big = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]))
    const write = vi.spyOn(JSON, 'stringify')
    const template = Array.from({ length: 30 }, () => ({ whole: '{{ big }}', text: 'x{{ big }}' }))
    const body = await render({ template }, { big })
    const writes = write.mock.calls.filter(([value]) => (value as { k0?: number } | null)?.k0 === 0)
    write.mockRestore()
    expect(JSON.parse(body)).toHaveLength(30)
    expect(writes).toHaveLength(1)
  })

  it('does not write many large parts that contain each other', async () => {
    let nested: unknown = 'x'.repeat(900_000)
    for (let level = 0; level < 10; level += 1) nested = { a: nested }
    const template = Array.from({ length: 10 }, (_, level) => `{{ a${'.a'.repeat(level)} }}`)
    expect(await render({ template }, nested)).toBe('rendered_too_large')
  })
})

describe('a batch', () => {
  const inputs = [sampleInput({ id: 1 }), sampleInput({ id: 2 })]

  it('is an array of what each message becomes', () => {
    expect(
      templateTransform()
        .compile({ template: { n: '{{ id }}' } })
        .renderBatch(inputs),
    ).toMatchObject({
      rendered: { body: '[{"n":1},{"n":2}]' },
    })
  })

  it('may have an envelope', () => {
    const envelope = {
      records: '{{ $items }}',
      count: '{{ $count }}',
      sentAt: '{{ $now }}',
      to: '{{ $endpoint }}',
    }
    expect(
      templateTransform()
        .compile({ template: { n: '{{ id }}' }, envelope })
        .renderBatch(inputs),
    ).toMatchObject({
      rendered: {
        body: '{"records":[{"n":1},{"n":2}],"count":2,"sentAt":"2030-01-31T09:00:05.000Z","to":"crm"}',
      },
    })
  })

  it('leaves out the message that can not be rendered, and names it', () => {
    expect(
      templateTransform()
        .compile({ template: { n: '{{ id }}' } })
        .renderBatch([...inputs, sampleInput({})]),
    ).toMatchObject({
      ok: true,
      rendered: { body: '[{"n":1},{"n":2}]' },
      refused: [{ code: 'template_missing_value', index: 2 }],
    })
  })

  it('can not name one payload in its envelope', () => {
    expect(refusal({ template: '', envelope: { a: '{{ id }}' } })).toMatchObject({ path: 'envelope.a' })
  })
})

describe('a template that can not be used', () => {
  it.each([
    ['{"a": }', 6],
    ['{"a": {{ b }', 11],
    ['{"a": {{ }} }', 6],
    ['{"a": "{{ b..c }}"}', 12],
    ['{"a": {{ b ?? }} }', 14],
    ['{"a": {{ b }}', 13],
    ['{"a": 1} x', 9],
    ['{"a": "x', 8],
    ['{"a": {{ b ?? 12345678901234567890 }}}', 34],
    ['hello', 0],
  ])('is refused when it is created: %s, at offset %i', (template, position) => {
    expect(refusal({ template })).toMatchObject({ path: 'template', position })
  })

  it('names the field when it was given as JSON', () => {
    expect(refusal({ template: { a: [{ b: 'x {{ c d }}' }] } })).toMatchObject({
      path: 'template.a[0].b',
      position: 7,
      message: 'template.a[0].b has "d" where "}}" or "??" is expected, at offset 7.',
    })
  })

  it('names an unknown variable, an unknown field and a bad rule', () => {
    expect(refusal({ template: { a: '{{ $nwo }}' } }).message).toMatch(/uses \$nwo, which is not known here/)
    expect(refusal({ template: '', extra: 1 })).toMatchObject({ path: 'extra' })
    expect(refusal({ template: '', missing: 'ignore' })).toMatchObject({ path: 'missing' })
  })

  it('is too long or too deep', () => {
    expect(refusal({ template: `"${'x'.repeat(300_000)}"` }).message).toMatch(/longer than/)
    expect(refusal({ template: '['.repeat(5000) }).message).toMatch(/too deep/)
    let deep: unknown = 1
    for (let level = 0; level < 200; level += 1) deep = [deep]
    expect(refusal({ template: deep }).message).toMatch(/deeper than/)
  })
})
