import { describe, expect, test } from 'vitest'
import {
  attentionOfAlert,
  attentionOfEndpoint,
  attentionOfLetters,
  attentionOfTask,
  byUrgency,
  type UnwellEndpoint,
  withoutEffects,
} from './attention.ts'

const at = new Date('2026-10-23T02:41:07Z')
const endpoint: UnwellEndpoint = {
  name: 'crm',
  state: 'active',
  reason: null,
  circuit: 'closed',
  failures: 0,
  openedAt: null,
  probeAt: null,
  heldUntil: null,
  pending: 0,
  stateChangedAt: at,
}

describe('what an endpoint needs', () => {
  test('an open circuit says how it came, what waits, and when the next probe is', () => {
    const probeAt = new Date('2026-10-23T03:04:40Z')
    const found = attentionOfEndpoint({
      ...endpoint,
      circuit: 'open',
      failures: 5,
      openedAt: at,
      probeAt,
      pending: 18_204,
    })
    expect(found).toEqual({
      kind: 'circuit_open',
      severity: 'critical',
      subject: 'endpoint:crm',
      sentence: '5 failures in a row. 18,204 deliveries wait; waiting uses no attempts.',
      since: at,
      until: probeAt,
      recovers: false,
    })
  })

  test('an open circuit behind which nothing waits has no probe to wait for', () => {
    expect(
      attentionOfEndpoint({
        ...endpoint,
        circuit: 'open',
        failures: 3,
        openedAt: at,
        probeAt: at,
        pending: 0,
      }),
    ).toMatchObject({
      sentence: '3 failures in a row. Nothing waits; the next delivery is the probe.',
      until: null,
    })
  })

  test('a hold with an end recovers by itself, one without needs a person', () => {
    const until = new Date('2026-10-23T03:12:00Z')
    const held = { ...endpoint, state: 'held', reason: 'answered 429', pending: 1 }
    expect(attentionOfEndpoint({ ...held, heldUntil: until })).toMatchObject({
      kind: 'held',
      recovers: true,
      until,
      sentence: 'Answered 429. 1 delivery waits; no attempts are used.',
    })
    expect(attentionOfEndpoint(held)).toMatchObject({ kind: 'held', recovers: false })
  })

  test('a pause needs attention only while deliveries wait', () => {
    expect(attentionOfEndpoint({ ...endpoint, state: 'paused' })).toBeNull()
    expect(attentionOfEndpoint({ ...endpoint, state: 'paused', pending: 2 })).toMatchObject({
      severity: 'notice',
    })
  })
})

test('letters of a queue are named as such, and a capped count as "or more"', () => {
  const letters = {
    endpoint: null,
    queue: 'invoices',
    letters: 1000,
    firstAt: at,
    sampleError: 'exit code 137',
  }
  expect(attentionOfLetters(letters, true)).toMatchObject({
    subject: 'queue:invoices',
    sentence: 'More than 1,000 new dead letters in the last hour: exit code 137.',
  })
})

test('an alert that repeats the problem of its endpoint is not listed twice', () => {
  const alert = { severity: 'warning', subject: 'crm', value: 0.5, threshold: 0.2, since: at } as const
  expect(attentionOfAlert({ ...alert, kind: 'circuit_open' })).toBeNull()
  expect(attentionOfAlert({ ...alert, kind: 'of_a_newer_version' })).toBeNull()
  expect(attentionOfAlert({ ...alert, kind: 'failure_rate' })).toMatchObject({
    subject: 'endpoint:crm',
    sentence: '50 % of the attempts to deliver to crm fail.',
  })
})

test('the urgent comes first, what recovers last', () => {
  const task = attentionOfTask({
    name: 'partitions',
    failures: 3,
    lastError: 'lock timeout',
    lastSucceededAt: at,
  })
  const circuit = attentionOfEndpoint({ ...endpoint, circuit: 'open', openedAt: at })
  const held = attentionOfEndpoint({ ...endpoint, state: 'held', heldUntil: at })
  const sorted = [held, task, circuit].flatMap((one) => one ?? []).sort(byUrgency)
  expect(sorted.map(({ kind }) => kind)).toEqual(['circuit_open', 'maintenance_failing', 'held'])
})

test('that attempts fail is listed unless their endpoint is listed as stopped', () => {
  const entry = { severity: 'warning', sentence: '', since: null, until: null, recovers: false } as const
  const failing = { ...entry, kind: 'failure_rate', subject: 'endpoint:crm' }
  const open = { ...entry, kind: 'circuit_open', subject: 'endpoint:crm' }
  const other = { ...entry, kind: 'failure_rate', subject: 'endpoint:erp' }
  const held = { ...entry, kind: 'held', subject: 'endpoint:erp' }
  expect(withoutEffects([failing, open, other, held])).toEqual([open, other, held])
})
