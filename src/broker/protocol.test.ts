import { expect, test } from 'vitest'
import {
  beatsMessage,
  controlMessage,
  type DispatchMessage,
  dispatchHeaders,
  dispatchMessage,
  encodeMessage,
  protocolVersion,
  readMessage,
  resultsMessage,
} from './protocol.ts'

const dispatch: DispatchMessage = {
  kind: 'dispatch',
  run: {
    claimId: 7,
    id: 12,
    messageId: 12,
    laneId: 3,
    jobId: 4,
    attempt: 0,
    crashes: 0,
    expiresAtMs: null,
    body: '{"amount":12345678901234567890}',
    correlationId: null,
    headers: null,
    metadata: null,
    orderingKey: null,
  },
  job: { name: 'mail', settings: { timeoutMs: 1000 } },
}

test('a dispatched run is read as it was written, its input to the last digit', () => {
  expect(readMessage(dispatchMessage, encodeMessage(dispatch))).toEqual({ ok: true, message: dispatch })
})

test.each([
  [resultsMessage, { kind: 'starts', worker: 5, starts: [{ runId: 12, claimId: 7 }] }],
  [resultsMessage, { kind: 'slots', worker: 5, free: 3 }],
  [beatsMessage, { kind: 'beat', worker: 5, beat: 1, running: 0, inFlight: [] }],
  [controlMessage, { kind: 'joined', joinId: 'a', worker: 5, consume: ['holdfast.queue.default'] }],
])('a message with fields of a later version is read without them', (schema, message) => {
  const content = Buffer.from(JSON.stringify({ ...message, later: protocolVersion + 1 }))
  expect(readMessage<unknown>(schema, content)).toEqual({ ok: true, message })
})

test.each([
  ['no JSON', '{"kind":', 'The body is not JSON.'],
  ['an unknown kind', '{"kind":"stop"}', expect.stringContaining('at kind')],
  ['a missing field', '{"kind":"slots","worker":5}', expect.stringContaining('at free')],
])('what can not be read says why: %s', (_, text, problem) => {
  expect(readMessage(resultsMessage, Buffer.from(text))).toEqual({ ok: false, problem })
})

test('the headers of a dispatched run have the names that other consumers look for', () => {
  expect(Object.values(dispatchHeaders)).toEqual([
    'x-retry-count',
    'x-max-retries',
    'x-original-correlation-id',
  ])
})
