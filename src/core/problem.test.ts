import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listProblems, problemsOf } from './problem.ts'

const schema = z.strictObject({
  eventType: z.string().optional(),
  endpoint: z.string().optional(),
  limit: z.string().optional(),
  retry: z.strictObject({ maxRetries: z.number() }).optional(),
})

const messagesOf = (input: unknown) =>
  problemsOf(schema.safeParse(input).error!, { schema, input }).map(
    ({ path, message }) => `${path}: ${message}`,
  )

describe('an unknown field', () => {
  test.each([
    ['type', 'eventType'],
    ['event_type', 'eventType'],
    ['eventtype', 'eventType'],
    ['endpont', 'endpoint'],
  ])('%s that probably means %s is answered with that name', (given, meant) => {
    expect(messagesOf({ [given]: 'x' })).toEqual([`${given}: is not a known field: did you mean ${meant}?`])
  })

  test.each([['colour'], ['t'], ['__proto__x']])('%s that means none is to be removed', (given) => {
    expect(messagesOf({ [given]: 'x' })).toEqual([
      `${given}: is not a known field: remove it, or check its spelling`,
    ])
  })

  test.each([
    ['maxRetris', 'maxRetries'],
    ['max_retries', 'maxRetries'],
  ])('%s inside another is compared with the names there', (given, meant) => {
    expect(messagesOf({ retry: { maxRetries: 1, [given]: 1 } })).toEqual([
      `retry.${given}: is not a known field: did you mean ${meant}?`,
    ])
  })

  test('inside another is not compared with the names outside', () => {
    expect(messagesOf({ retry: { maxRetries: 1, type: 1 } })).toEqual([
      'retry.type: is not a known field: remove it, or check its spelling',
    ])
  })
})

describe('an input that may be a text or an object', () => {
  const either = z.strictObject({
    route: z.union([z.string().max(5), schema.required({ endpoint: true })], {
      error: 'must be a name or a route',
    }),
  })
  test.each([
    [{ route: { eventType: 'order.*' } }, 'route.endpoint: is missing'],
    [{ route: { endpoint: 'crm', retry: {} } }, 'route.retry.maxRetries: is missing'],
    [
      { route: { endpoint: 'crm', colour: 1 } },
      'route.colour: is not a known field: remove it, or check its spelling',
    ],
    [{ route: 'too long' }, 'route: must have at most 5 characters'],
    [{ route: 5 }, 'route: must be a name or a route'],
    [{}, 'route: is missing: it must be a name or a route'],
  ])('%j', (given, expected) => {
    const { error } = either.safeParse(given)
    expect(problemsOf(error!, { input: given }).map(({ path, message }) => `${path}: ${message}`)).toEqual([
      expected,
    ])
  })
})

describe("a value that the schema's author gave no words for", () => {
  const plain = z.strictObject({
    method: z.enum(['GET', 'POST']).optional(),
    bytes: z.int().min(0).max(9).optional(),
    word: z.string().min(2).optional(),
    list: z.array(z.string()).max(1).optional(),
    headers: z.record(z.string().regex(/^\w+$/, 'is not an HTTP header name'), z.string()).optional(),
    auth: z
      .discriminatedUnion('type', [
        z.strictObject({ type: z.literal('none') }),
        z.strictObject({ type: z.literal('bearer'), token: z.string({ error: 'must be text' }) }),
      ])
      .optional(),
    isOn: z.boolean().optional(),
    when: z.object({ at: z.string() }).optional(),
  })
  test.each([
    [{ method: 'POSTT' }, 'method: must be one of GET, POST'],
    [{ bytes: -1 }, 'bytes: must be at least 0'],
    [{ bytes: 10 }, 'bytes: must be at most 9'],
    [{ bytes: 1.5 }, 'bytes: must be a whole number'],
    [{ word: 'x' }, 'word: must have at least 2 characters'],
    [{ word: 1 }, 'word: must be text'],
    [{ list: ['a', 'b'] }, 'list: must have at most 1 entries'],
    [{ list: 'a' }, 'list: must be a list'],
    [{ headers: { 'a b': 'x' } }, 'headers.a b: is not an HTTP header name'],
    [{ headers: [] }, 'headers: must be an object'],
    [{ auth: { type: 'baerer' } }, 'auth.type: must be one of none, bearer'],
    [{ auth: {} }, 'auth.type: is missing: it must be one of none, bearer'],
    [{ auth: { type: 'bearer' } }, 'auth.token: is missing: it must be text'],
    [{ isOn: 'yes' }, 'isOn: must be true or false'],
    [{ when: {} }, 'when.at: is missing'],
    [{ when: 5 }, 'when: must be an object'],
    [5, ': must be an object'],
  ])('%j is described in plain words', (given, expected) => {
    const { error } = plain.safeParse(given)
    const found = problemsOf(error!, { schema: plain, input: given })
    expect(found.map(({ path, message }) => `${path}: ${message}`)).toEqual([expected])
  })
})

test('a problem of the whole input names it in the list of problems', () => {
  const problems = [
    { path: '', message: 'must be an object' },
    { path: 'a', message: 'is missing' },
    { path: '', message: 'this operation takes no body' },
  ]
  expect(listProblems(problems, 'the body')).toBe(
    'the body must be an object; a: is missing; this operation takes no body',
  )
})
