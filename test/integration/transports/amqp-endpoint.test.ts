import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { brokerUrl, TestBroker } from '../../support/amqp/broker.ts'
import { Rig } from '../../support/engine/rig.ts'

describe.skipIf(brokerUrl === null)('an endpoint on a RabbitMQ', () => {
  let rig: Rig
  let holdfast: Holdfast
  let broker: TestBroker

  beforeAll(async () => {
    rig = await Rig.create()
    holdfast = rig.client({ actor: 'ada' })
    broker = await TestBroker.connect()
  })

  afterAll(async () => {
    await broker.stop()
    await rig.stop()
  })

  const url = (brokerUrl ?? '').replace('//', '//guest:guest@')

  test('is created, shown without its password, tested, and gets what is published', async () => {
    const queue = await broker.queue()
    await holdfast.endpoints.create({
      name: 'rabbit',
      transport: 'amqp',
      config: { url, exchange: '', routingKey: queue },
      eventTypes: ['order.*'],
    })
    const shown = await holdfast.endpoints.get('rabbit')
    expect(shown.config).toMatchObject({ exchange: '', routingKey: queue })
    expect(JSON.stringify(shown)).toContain('guest:[hidden]@')
    expect(JSON.stringify(shown)).not.toContain('guest:guest')

    const arrived = new Promise<string[]>((resolve) => {
      const bodies: string[] = []
      void broker.consume(queue, ({ content }) => {
        if (bodies.push(content.toString()) === 3) resolve(bodies)
      })
    })
    expect(await holdfast.endpoints.test('rabbit')).toMatchObject({ ok: true, finding: 'ok' })
    await rig.start()
    await holdfast.publish('order.created', { id: 1 })
    await holdfast.publish('order.paid', { id: 2 })
    expect((await arrived).slice(1).toSorted()).toEqual(['{"id":1}', '{"id":2}'])
  })

  test('changes its exchange and keeps its stored password', async () => {
    await holdfast.endpoints.update('rabbit', { config: { routingKey: broker.name('nowhere') } })
    expect(await holdfast.endpoints.test('rabbit')).toMatchObject({
      ok: false,
      class: 'permanent',
      finding: 'unroutable',
    })
  })

  test('is refused where it can not be reached, with the reason', async () => {
    const config = { url: 'amqp://10.0.0.1', exchange: '' }
    await expect(holdfast.endpoints.create({ name: 'private', transport: 'amqp', config })).rejects.toThrow(
      '10.0.0.0/8',
    )
  })
})
