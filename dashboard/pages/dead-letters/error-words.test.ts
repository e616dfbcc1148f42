import { expect, test } from 'vitest'
import { failureCodes, failureWords } from './error-words.ts'

const failure = { reason: 'permanent', class: 'permanent', statusCode: 422, errorCode: null, error: null }

test('the words of the error come first, its codes below', () => {
  expect(failureWords({ ...failure, error: 'amount must be an integer' })).toBe('amount must be an integer')
  expect(failureWords(failure)).toBe('Answered 422')
  expect(
    failureWords({ ...failure, reason: 'retries_exhausted', statusCode: null, errorCode: 'connect_refused' }),
  ).toBe('Gave up after all retries: connect refused')
  expect(failureCodes(failure)).toBe('http 422 · permanent · permanent')
})
