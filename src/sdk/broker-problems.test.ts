import { expect, test } from 'vitest'
import type { BrokerQueueView } from '../storage/broker-queues.ts'
import type { BrokerCounts, BrokerReport } from '../storage/broker-reports.ts'
import { findBrokerProblems } from './broker-problems.ts'

const counts: BrokerCounts = {
  unstarted: 0,
  oldestUnstartedAt: null,
  rejects: 0,
  workers: 0,
  queues: 0,
  nodesWithout: [],
}

function saying(report: Partial<BrokerReport>, node = 'a') {
  return { node, report: { state: 'connected', prefix: 'holdfast', ...report } as const, reportedAtMs: 0 }
}

test('nodes that are connected alike have no problem, nor has an installation without a broker', () => {
  expect(findBrokerProblems([saying({}), saying({}, 'b')], [], counts)).toEqual([])
  expect(findBrokerProblems([], [], counts)).toEqual([])
})

test('workers over a broker that no node uses are named', () => {
  const [problem] = findBrokerProblems([], [], { ...counts, workers: 2 })
  expect(problem?.message).toBe('No live node uses the broker, and 2 workers get runs over it.')
})

test('a node that is not connected has the reason and the fix, each once', () => {
  const text = 'The queue "q" exists with another x-message-ttl: 1 instead of 2. Delete it.'
  const [mismatch] = findBrokerProblems(
    [saying({ state: 'disconnected', error: text, errorCode: 'topology_mismatch', fix: 'Delete it.' })],
    [],
    counts,
  )
  expect(mismatch).toMatchObject({
    message:
      'The node "a" has no connection to the broker: The queue "q" exists with another x-message-ttl: 1 instead of 2.',
    fix: 'Delete it.',
  })
  const [refused] = findBrokerProblems(
    [saying({ state: 'disconnected', error: 'refused', errorCode: 'access_refused', fix: null })],
    [],
    counts,
  )
  expect(refused?.fix).toContain('user and password')
  const [away] = findBrokerProblems(
    [saying({ state: 'disconnected', error: 'connect ECONNREFUSED', errorCode: null, fix: null })],
    [],
    counts,
  )
  expect(away?.fix).toContain('the broker is up')
})

test('a blocked node, an old server, a queue that differs and different options are each one sentence with a fix', () => {
  const queue = { name: 'holdfast.queue.x', problem: { message: 'It differs.', fix: 'Delete it.' } }
  const problems = findBrokerProblems(
    [
      saying({
        state: 'blocked',
        error: 'low on memory',
        server: { product: 'RabbitMQ', version: '3.9.29' },
      }),
      saying({ prefix: 'other' }, 'b'),
    ],
    [queue as BrokerQueueView],
    { ...counts, nodesWithout: ['c'] },
  )
  expect(problems.map(({ subject, isSevere }) => [subject, isSevere])).toEqual([
    ['a', true],
    ['broker', true],
    ['holdfast.queue.x', true],
    ['HOLDFAST_BROKER_PREFIX', true],
    ['c', false],
  ])
  for (const { message, fix } of problems) expect([message, fix].join(' ')).toMatch(/\.$/)
  expect(problems[0]?.message).toBe('The broker accepts no messages from the node "a": low on memory.')
})

test.each(['3.10.8', '4.1.0', 'unknown'])('the version %s is not complained of', (version) => {
  expect(findBrokerProblems([saying({ server: { product: 'RabbitMQ', version } })], [], counts)).toEqual([])
})
