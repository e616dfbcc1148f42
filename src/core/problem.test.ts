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
