import { expect, test } from 'vitest'
import { explainMismatch } from './topology-mismatch.ts'

test('a queue with another argument is named, with both values and the fix', () => {
  const error = new Error(
    `Channel closed by server: 406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'holdfast.worker.a' in vhost '/': received the value '1' of type 'signedint' but current is the value '2' of type 'signedint'"`,
  )
  expect(String(explainMismatch(error))).toContain(
    "The queue \"holdfast.worker.a\" exists with another x-message-ttl: the value '2' of type 'signedint' instead of the value '1'",
  )
  expect(String(explainMismatch(error))).toContain('rabbitmqctl delete_queue holdfast.worker.a')
})

test('any other error stays as it is', () => {
  const error = new Error('Socket closed abruptly')
  expect(explainMismatch(error)).toBe(error)
})
