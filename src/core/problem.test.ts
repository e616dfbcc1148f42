import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { problemsOf } from './problem.ts'

const schema = z.strictObject({
  eventType: z.string().optional(),
  endpoint: z.string().optional(),
  limit: z.string().optional(),
  retry: z.strictObject({ maxRetries: z.number() }).optional(),
})

const messagesOf = (input: unknown) =>
  problemsOf(schema.safeParse(input).error!, Object.keys(schema.shape)).map(
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
    [{ route: 'too long' }, 'route: Too big: expected string to have <=5 characters'],
    [{ route: 5 }, 'route: must be a name or a route'],
    [{}, 'route: must be a name or a route'],
  ])('%j', (given, expected) => {
    const { error } = either.safeParse(given)
    expect(problemsOf(error!).map(({ path, message }) => `${path}: ${message}`)).toEqual([expected])
  })
})
