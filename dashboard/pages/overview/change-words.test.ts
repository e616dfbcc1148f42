import { expect, test } from 'vitest'
import { changeWords } from './change-words.ts'

test.each([
  ['circuit.open', 'endpoint:crm', 'Circuit of crm opened'],
  ['route.updated', 'route:orders-to-crm', 'Route orders-to-crm changed'],
  ['endpoint.paused', 'endpoint:crm', 'Endpoint crm paused'],
  ['worker.started', 'worker:reports-1', 'Worker reports-1 started'],
  ['worker.started', 'worker:4 workers', '4 workers started'],
  ['operation.succeeded', 'operation:op_0aj7a0agw0v', 'Operation op_0aj7a0agw0v succeeded'],
  ['api_key.created', 'api_key:shop', 'API key shop created'],
])('%s of %s is "%s"', (action, subject, words) => {
  expect(changeWords(action, subject)).toBe(words)
})
