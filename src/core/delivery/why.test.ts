import { describe, expect, test } from 'vitest'
import { type OwedDelivery, whyEnded, whyOwed } from './why.ts'

const now = new Date('2026-10-23T03:04:18Z')
const later = new Date('2026-10-23T03:04:40Z')
const owed: OwedDelivery = {
  endpoint: 'crm',
  state: 'active',
  reason: null,
  stoppedBy: null,
  stateChangedAt: now,
  circuit: 'closed',
  failures: 0,
  probeAt: null,
  heldUntil: null,
  holdReason: null,
  dueAt: null,
  orderingKey: null,
  aheadId: null,
  ahead: 0,
  blockingLetterId: null,
  attempt: 0,
  inFlight: 0,
  pending: 1,
  concurrency: 64,
  ratePerSecond: null,
  shard: 117,
  node: 'node-b',
  isNodeAlive: true,
}

describe('what holds a delivery up', () => {
  test.each([
    [{}, 'due_now', /^Nothing blocks it/, null],
    [
      { state: 'paused', stoppedBy: 'key:jonas', reason: 'stock count' },
      'endpoint_paused',
      'crm was paused by key:jonas: stock count. It waits until it is resumed.',
      null,
    ],
    [{ state: 'disabled' }, 'endpoint_disabled', /until it is enabled/, null],
    [{ state: 'rejecting', reason: '401' }, 'endpoint_rejecting', /rejects every message/, null],
    [
      { circuit: 'open', failures: 5, probeAt: later },
      'circuit_open',
      'The circuit of crm is open after 5 failures in a row, so this delivery waits until a probe succeeds.',
      later,
    ],
    [{ heldUntil: later }, 'endpoint_held', /as the receiver asked us to wait/, later],
    [{ orderingKey: 'c-7', aheadId: 'dlv_1', ahead: 1 }, 'behind_key', /^It waits behind dlv_1, with/, null],
    [{ orderingKey: 'c-7', aheadId: 'dlv_1', ahead: 4 }, 'behind_key', /dlv_1 and 3 more/, null],
    [
      { orderingKey: 'c-7', blockingLetterId: 'dlt_1', aheadId: 'dlv_1' },
      'behind_dead_letter',
      /dlt_1/,
      null,
    ],
    [{ dueAt: later }, 'due_later', /published to be delivered later/, later],
    [{ dueAt: later, attempt: 2 }, 'due_later', /^Attempt 2 failed/, later],
    [{ dueAt: now }, 'due_now', /^Nothing/, null],
    [{ node: null, isNodeAlive: false }, 'no_owner', /No node owns shard 117/, null],
    [{ isNodeAlive: false }, 'owner_silent', /node-b/, null],
    [{ inFlight: 64 }, 'concurrency_full', /All 64 slots/, null],
    [{ ratePerSecond: 5, pending: 9 }, 'rate_limited', /at most 5 per second, and 9/, null],
  ] as const)('%j: %s', (change, code, sentence, until) => {
    const found = whyOwed({ ...owed, ...change }, now)
    expect(found.code).toBe(code)
    expect(found.sentence).toMatch(sentence)
    expect(found.until).toEqual(until)
  })

  test('a stopped endpoint comes before its circuit, a circuit before the order', () => {
    const all = {
      ...owed,
      state: 'paused',
      circuit: 'open',
      orderingKey: 'k',
      aheadId: 'dlv_1',
      dueAt: later,
    }
    expect(whyOwed(all, now).code).toBe('endpoint_paused')
    expect(whyOwed({ ...all, state: 'active' }, now).code).toBe('circuit_open')
    expect(whyOwed({ ...all, state: 'active', circuit: 'closed' }, now).code).toBe('behind_key')
  })
})

test.each(['succeeded', 'dead', 'expired', 'cancelled', 'dropped', 'skipped'])(
  'what is %s says so',
  (state) => {
    const ended = { state, endpoint: 'crm', lastAttemptAt: now, deadLetterId: 'dlt_1', error: null }
    expect(whyEnded(ended).code).toBe(state)
  },
)
