import { type Channel, connect } from 'amqplib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type DeclaredQueue,
  defaultTopology,
  exchangesOf,
  fixedQueuesOf,
  sharedKey,
  sharedQueue,
  type TopologyOptions,
  topologyNames,
  workerKey,
  workerQueue,
} from '../../../src/broker/topology.ts'
import { brokerUrl, TestBroker } from '../../support/amqp/broker.ts'
import { until } from '../../support/engine/until.ts'

describe.skipIf(brokerUrl === null)('the topology of broker mode on a RabbitMQ', () => {
  let broker: TestBroker
  let channel: Channel
  let options: TopologyOptions
  let declared: string[]

  beforeEach(async () => {
    broker = await TestBroker.connect()
    channel = broker.channel
    options = { ...defaultTopology, prefix: broker.name('topology') }
    declared = []
    for (const { name, type } of exchangesOf(options)) await channel.assertExchange(name, type)
    for (const queue of fixedQueuesOf(options)) await declare(queue)
  })

  afterEach(async () => {
    const connection = await connect(brokerUrl ?? '')
    const cleaner = await connection.createChannel()
    for (const name of declared) await cleaner.deleteQueue(name)
    for (const { name } of exchangesOf(options)) await cleaner.deleteExchange(name)
    await connection.close()
    await broker.stop()
  })

  async function declare({ name, arguments: args, bindings }: DeclaredQueue): Promise<void> {
    declared.push(name)
    await channel.assertQueue(name, { durable: true, arguments: args })
    for (const { exchange, key } of bindings) await channel.bindQueue(name, exchange, key)
  }

  const take = (queue: string) =>
    until(
      `a message in ${queue}`,
      () => channel.get(queue, { noAck: true }),
      (message) => message !== false,
    )

  test('what expires in the queue of a worker arrives in the dead-letter queue, with its history', async () => {
    const names = topologyNames(options.prefix)
    const queue = workerQueue(options, 'press.7', 300_000)
    await declare(queue)
    channel.publish(names.dispatch, workerKey('press.7', 300_000), Buffer.from('x'), {
      expiration: '1',
      persistent: true,
    })
    const message = await take(names.deadLetterQueue)
    expect(message === false ? null : message.properties.headers?.['x-death']).toMatchObject([
      { reason: 'expired', queue: queue.name, count: 1 },
    ])
  })

  test('a direct exchange bound with # would drop what expires', async () => {
    const exchange = `${options.prefix}.direct`
    const [dead, source, witness] = [`${exchange}.dead`, `${exchange}.source`, `${exchange}.witness`]
    await channel.assertExchange(exchange, 'direct', { autoDelete: true })
    await declare({ name: dead, arguments: {}, bindings: [{ exchange, key: '#' }] })
    await declare({ name: source, arguments: { 'x-dead-letter-exchange': exchange }, bindings: [] })
    await declare({ name: witness, arguments: {}, bindings: [{ exchange, key: source }] })
    channel.sendToQueue(source, Buffer.from('x'), { expiration: '1' })
    // RabbitMQ removes a message that expires before it routes it.
    await take(witness)
    // Behind the lost one, so that its absence is seen at a known time.
    await channel.bindQueue(dead, exchange, source)
    channel.sendToQueue(source, Buffer.from('y'), { expiration: '1' })
    const message = await take(dead)
    expect(message === false ? null : message.content.toString()).toBe('y')
  })

  test('a run reaches the queue of its job queue only, also when names contain dots', async () => {
    const names = topologyNames(options.prefix)
    await declare(sharedQueue(options, 'mail'))
    await declare(sharedQueue(options, 'mail.bulk'))
    channel.publish(names.dispatch, sharedKey('mail.bulk', 'send.now'), Buffer.from('bulk'))
    const message = await take(`${options.prefix}.queue.mail.bulk`)
    expect(message === false ? null : message.content.toString()).toBe('bulk')
    expect(await channel.get(`${options.prefix}.queue.mail`)).toBe(false)
  })

  test('another TTL is another queue, so that it can be changed', async () => {
    const before = workerQueue(options, 'press', 300_000)
    const after = workerQueue(options, 'press', 60_000)
    await declare(before)
    await declare(after)
    expect([before.name, after.name]).toEqual([
      `${options.prefix}.worker.press`,
      `${options.prefix}.worker.press.ttl-60000`,
    ])
  })
})
