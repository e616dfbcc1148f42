import { expect, test } from 'vitest'
import { failureCodes, failureWords, isRoutesFailure } from './error-words.ts'

const failure = { reason: 'permanent', class: 'permanent', statusCode: 422, errorCode: null, error: null }

test('the words of the error come first, its codes below', () => {
  expect(failureWords({ ...failure, error: 'amount must be an integer' })).toBe('amount must be an integer')
  expect(failureWords(failure)).toBe('Answered 422')
  expect(
    failureWords({ ...failure, reason: 'retries_exhausted', statusCode: null, errorCode: 'connect_refused' }),
  ).toBe('Gave up after all retries: connect refused')
  expect(failureCodes(failure)).toBe('http 422 · permanent')
})

test('a run that never started says what happened to its message on the broker', () => {
  const words = (reason: string, error: string) =>
    failureWords({ ...failure, statusCode: null, reason, error })
  expect(words('worker_queue_ttl_expired', 'Worker queue TTL expired')).toBe(
    'No worker took it in time: Worker queue TTL expired',
  )
  expect(words('broker_rejected', 'Rejected by its consumer')).toBe(
    'A consumer refused it: Rejected by its consumer',
  )
  expect(
    failureCodes({
      ...failure,
      class: 'retryable',
      statusCode: null,
      reason: 'broker_rejected',
      errorCode: 'broker_rejected',
    }),
  ).toBe('broker_rejected · retryable')
})

test('what a route could not render is fixed in the route', () => {
  for (const errorCode of ['template_failed', 'jsonata_timeout', 'learning_wrong_type', 'rendered_too_large'])
    expect([errorCode, isRoutesFailure({ errorCode, statusCode: null })]).toEqual([errorCode, true])
  expect(isRoutesFailure({ errorCode: null, statusCode: 422 })).toBe(true)
  expect(isRoutesFailure({ errorCode: 'connect_refused', statusCode: null })).toBe(false)
})
