import { expect, test } from 'vitest'
import { parseRunSearch } from './run-search.ts'

test('an address keeps every filter that the API knows, and drops what it does not', () => {
  expect(
    parseRunSearch({
      state: 'failed',
      job: 'report',
      worker: 'eu-1',
      tag: 'nightly',
      correlationId: 'order-17',
      from: '2030-01-01T03:00:00+02:00',
      to: 'tomorrow',
      colour: 'red',
    }),
  ).toEqual({
    state: 'failed',
    job: 'report',
    worker: 'eu-1',
    tag: 'nightly',
    correlationId: 'order-17',
    from: '2030-01-01T01:00:00.000Z',
  })
  expect(parseRunSearch({ state: 'asleep', queue: '' })).toEqual({})
})
