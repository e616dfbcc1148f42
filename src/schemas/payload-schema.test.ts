import { describe, expect, it } from 'vitest'
import { checkPayload, parsePayloadSchema } from './payload-schema.ts'

const orderSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://example.com/order.json',
  type: 'object',
  required: ['id', 'lines'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', pattern: '^o-[0-9]+$' },
    at: { type: 'string', format: 'date-time' },
    lines: { type: 'array', items: { $ref: '#/$defs/line' }, uniqueItems: true },
  },
  $defs: {
    line: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' }, n: { minimum: 1 } } },
  },
}

function pathsOf(schema: unknown, payload: unknown): string[] {
  const check = checkPayload(schema, payload)
  return check.ok ? [] : check.failures.map(({ path, message }) => `${path}: ${message}`)
}

function refusal(schema: unknown): string[] {
  const parsed = parsePayloadSchema(schema)
  return parsed.ok ? ['accepted'] : parsed.problems.map(({ path, message }) => `${path}: ${message}`)
}

describe('a payload', () => {
  it('passes when it is as the schema says', () => {
    expect(
      checkPayload(orderSchema, { id: 'o-7', at: '2030-01-31T09:00:00Z', lines: [{ sku: 'a' }] }),
    ).toEqual({ ok: true })
  })

  it('fails with every failing place', () => {
    expect(pathsOf(orderSchema, { id: 'x', at: 'today', lines: [{ sku: 1 }, { n: 0 }], extra: 1 })).toEqual([
      'extra: must NOT have additional properties',
      'id: must match pattern "^o-[0-9]+$"',
      'at: must match format "date-time"',
      'lines[0].sku: must be string',
      "lines[1].sku: must have required property 'sku'",
      'lines[1].n: must be >= 1',
    ])
  })

  it('fails with the first 20 places when there are more, and with one when it is very large', () => {
    const schema = { items: { type: 'string' } }
    expect(
      pathsOf(
        schema,
        Array.from({ length: 50 }, () => 1),
      ),
    ).toHaveLength(20)
    expect(
      pathsOf(
        schema,
        Array.from({ length: 50_000 }, () => 1),
      ),
    ).toHaveLength(1)
  })

  it('may not have an item twice, whatever the order of its fields', () => {
    const schema = { uniqueItems: true }
    expect(
      pathsOf(schema, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toEqual([': must not have the same item twice'])
    expect(pathsOf(schema, [1, '1', [1], { a: 1 }, null])).toEqual([])
    expect(
      pathsOf(
        schema,
        Array.from({ length: 100_000 }, (_, id) => ({ id })),
      ),
    ).toEqual([])
  })

  it('is not confused by names from the prototype', () => {
    const payload: unknown = JSON.parse('{"__proto__": {"id": "o-1"}, "lines": []}')
    expect(pathsOf({ required: ['id', 'toString'] }, payload)).toEqual([
      "id: must have required property 'id'",
      "toString: must have required property 'toString'",
    ])
  })
})

describe('a schema', () => {
  it('may have annotations, old names of keywords, and anchors', () => {
    const schema = {
      $comment: 'c',
      title: 'Order',
      description: 'An order.',
      default: {},
      examples: [{ id: 1 }],
      deprecated: true,
      readOnly: true,
      writeOnly: true,
      contentMediaType: 'application/json',
      contentEncoding: 'base64',
      contentSchema: { type: 'object' },
      properties: { id: { $ref: '#id' }, at: { $ref: '#/definitions/at' } },
      definitions: { at: { type: 'string' }, id: { $anchor: 'id', type: 'integer' } },
      dependencies: { at: ['id'], id: { minProperties: 1 } },
    }
    expect(refusal(schema)).toEqual(['accepted'])
    expect(pathsOf(schema, { id: 'x', at: 1 })).toEqual(['id: must be integer', 'at: must be string'])
    expect(pathsOf(schema, { at: 'today' })).toHaveLength(1)
  })
})

describe('a hostile schema', () => {
  it.each([
    ['const', { const: { pattern: 'a' }, $ref: '#/const' }],
    ['enum', { enum: [{ pattern: 'a' }], properties: { a: { $ref: '#/enum/0' } } }],
    ['examples', { examples: [{ pattern: 'a' }], $ref: '#/examples/0' }],
    ['properties', { properties: { a: { $ref: '#/properties' } } }],
  ])('can not hide a schema where none is checked, in %s', (_name, schema) => {
    expect(refusal(schema).join()).toMatch(/\$ref: refers to something that is not a schema: /)
  })

  it('counts the steps of old keywords too', () => {
    const below = { $ref: '#/dependencies/a' }
    const dependencies = { a: { type: 'object', properties: { a: { anyOf: [below, below] } } } }
    let payload: unknown = 1
    for (let level = 0; level < 40; level += 1) payload = { a: payload }
    expect(checkPayload({ dependencies }, payload)).toMatchObject({ code: 'schema_too_costly' })
    expect(refusal({ dependencies: { a: { pattern: '(?=a)' } } }).join()).toMatch(/dependencies\.a\.pattern/)
  })

  it('can not hang the process by its pattern', () => {
    const schema = { type: 'string', pattern: '^(a+)+$' }
    expect(pathsOf(schema, `${'a'.repeat(100_000)}!`)).toHaveLength(1)
  })

  it('gives up on a pattern and a text that are too much together', () => {
    expect(checkPayload({ pattern: '^(.*é){200}$' }, 'é'.repeat(1_000_000))).toMatchObject({
      code: 'schema_too_costly',
    })
  })

  it('gives up on references that multiply', () => {
    const definitions: Record<string, unknown> = { d0: { type: 'string' } }
    for (let level = 1; level <= 40; level += 1) {
      const below = { $ref: `#/$defs/d${level - 1}` }
      definitions[`d${level}`] = { anyOf: [below, below] }
    }
    expect(checkPayload({ $ref: '#/$defs/d40', $defs: definitions }, 7)).toMatchObject({
      code: 'schema_too_costly',
    })
  })

  it.each([
    ['an enum of objects', { enum: Array.from({ length: 3000 }, (_, id) => ({ id })) }],
    ['counts of fields', { anyOf: Array.from({ length: 800 }, () => ({ maxProperties: 1 })) }],
    [
      'a closed list of fields',
      { anyOf: Array.from({ length: 800 }, () => ({ additionalProperties: false })) },
    ],
  ])('gives up on %s and an object of many fields', (_name, schema) => {
    const fields = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`field-${index}`, index]))
    expect(checkPayload(schema, fields)).toMatchObject({ code: 'schema_too_costly' })
  })

  it('gives up on a payload that is nested without end', () => {
    let payload: unknown = 1
    for (let level = 0; level < 100_000; level += 1) payload = { next: payload }
    expect(checkPayload({ properties: { next: { $ref: '#' } } }, payload)).toMatchObject({
      code: 'schema_too_costly',
    })
  })

  it.each([
    [7, ': must be a JSON object'],
    [undefined, ': must be a JSON Schema of at most 65536 characters'],
    [{ description: 'x'.repeat(70_000) }, ': must be a JSON Schema of at most 65536 characters'],
    [
      { properties: { a: { type: 'strng' } } },
      'properties.a.type: must be equal to one of the allowed values',
    ],
    [
      { properties: { a: { minimun: 1 } } },
      'properties.a.minimun: is not a keyword of JSON Schema 2020-12: remove it, or check its spelling',
    ],
    [
      { properties: { a: { $ref: 'https://example.com/a.json' } } },
      'properties.a.$ref: must refer to a place in this schema, like "#/$defs/address": remote schemas are not fetched',
    ],
    [
      { $schema: 'http://json-schema.org/draft-07/schema#' },
      '$schema: must be "https://json-schema.org/draft/2020-12/schema": other versions of JSON Schema are not supported',
    ],
    [{ pattern: '(' }, 'pattern: is not a valid regular expression'],
    [
      { patternProperties: { '(?=a)': {} } },
      'patternProperties.(?=a): uses look-around, which cannot be checked in linear time; use "allOf" or "not" instead',
    ],
    [
      { $ref: '#/$defs/none' },
      '$ref: refers to something that is not in this schema: there is no #/$defs/none',
    ],
    [{ format: 'regex' }, ': unknown format "regex" ignored in schema at path "#"'],
    [{ $async: true }, '$async: is not a keyword of JSON Schema 2020-12: remove it, or check its spelling'],
  ])('is refused when it is created: %j', (schema, problem) => {
    expect(refusal(schema)).toContain(problem)
  })

  it('is refused when it has more alternatives or properties than can be compiled', () => {
    const many = Array.from({ length: 3000 }, (_, value) => ({ const: value }))
    expect(refusal({ oneOf: many })).toEqual(['oneOf: has 3000 entries; the limit is 1000'])
    expect(refusal({ properties: Object.fromEntries(many.entries()) })).toEqual([
      'properties: has 3000 entries; the limit is 2000',
    ])
    expect(refusal({ $defs: Object.fromEntries(many.entries()) })).toEqual(['accepted'])
  })

  it('is refused when its patterns are too large together', () => {
    const patterns = (count: number, name = 'p') =>
      Array.from({ length: count }, (_, n) => ({ pattern: `${name}${n}y{3900}` }))
    expect(refusal({ anyOf: patterns(20) })).toEqual(['accepted'])
    expect(refusal({ anyOf: patterns(500) })).toEqual([
      'anyOf[25].pattern: makes the patterns of this schema too large together: written out, they have more than 100000 steps',
    ])
    // The same pattern counts once.
    expect(refusal({ anyOf: Array.from({ length: 500 }, () => ({ pattern: 'y{3900}' })) })).toEqual([
      'accepted',
    ])
  })

  it('is refused when it is nested without end', () => {
    let schema: unknown = {}
    for (let level = 0; level < 300; level += 1) schema = { not: schema }
    expect(refusal(schema).join()).toMatch(/nested deeper than 100 levels/)
  })
})

describe('parsePayloadSchema', () => {
  it('compiles the same schema once', () => {
    expect(parsePayloadSchema({ ...orderSchema })).toBe(parsePayloadSchema({ ...orderSchema }))
  })

  it('keeps apart two schemas that claim the same id', () => {
    const id = 'https://example.com/same.json'
    expect(pathsOf({ $id: id, type: 'string' }, 1)).toEqual([': must be string'])
    expect(pathsOf({ $id: id, type: 'number' }, 1)).toEqual([])
  })
})
