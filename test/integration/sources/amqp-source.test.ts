import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { brokerUrl } from '../../support/amqp/broker.ts'
import { SourceRig } from '../../support/amqp/source-rig.ts'
import { until } from '../../support/engine/until.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'

const order = (id: number) => JSON.stringify({ id })
const orders = (count: number) => Array.from({ length: count }, (_, index) => order(index))
const typed = { eventType: 'order.created' }

describe.skipIf(brokerUrl === null)('a source on a RabbitMQ', () => {
  let rig: SourceRig
  let holdfast: Holdfast

  beforeEach(async () => {
    rig = await SourceRig.create()
    holdfast = rig.rig.client({ actor: 'ada' })
  })

  afterEach(() => rig.stop())

  test('publishes messages in the order of the queue, with type, payload and keys from its templates', async () => {
    const exchange = `${rig.queue}-exchange`
    await rig.withChannel(async (channel) => {
      await channel.assertExchange(exchange, 'topic', { durable: false, autoDelete: true })
      await channel.bindQueue(rig.queue, exchange, 'order.#')
    })
    await holdfast.sources.create(
      rig.source('shop', {
        payload: { order: '{{ body.id }}', kind: '{{ headers.kind }}', whole: '{{ body }}' },
        tenant: '{{ headers.shop }}',
        orderingKey: 'order-{{ body.id }}',
      }),
    )
    await rig.rig.start()
    await rig.send(
      ['{"id":12345678901234567890}', order(2)],
      (index) => ({
        messageId: `m-${index}`,
        correlationId: `c-${index}`,
        headers: { kind: 'new', shop: 'north' },
      }),
      exchange,
      'order.created',
    )
    await rig.events(2)
    expect(
      await rig.rig.rows(
        'select type, tenant, ordering_key, correlation_id, body::text as body from holdfast_internal.messages order by id',
      ),
    ).toEqual([
      {
        type: 'order.created',
        tenant: 'north',
        ordering_key: 'order-12345678901234567890',
        correlation_id: 'c-0',
        body: '{"kind":"new","order":12345678901234567890,"whole":{"id":12345678901234567890}}',
      },
      {
        type: 'order.created',
        tenant: 'north',
        ordering_key: 'order-2',
        correlation_id: 'c-1',
        body: '{"kind":"new","order":2,"whole":{"id":2}}',
      },
    ])
  })

  test('keeps the order of a thousand messages, acknowledges them all, and counts them', async () => {
    await rig.send(orders(1000), (index) => ({ messageId: String(index) }))
    await holdfast.sources.create(rig.source('shop', { ...typed, prefetch: 50 }))
    const node = await rig.rig.start()
    expect(await rig.events(1000)).toEqual(orders(1000))
    const state = await until(
      'the counts',
      () => rig.nodeState('shop'),
      (seen) => seen?.published === 1000,
    )
    expect(state).toMatchObject({
      state: 'connected',
      error: null,
      received: 1000,
      rejected: 0,
      unacknowledged: 0,
    })
    expect(await rig.ready()).toBe(0)
    const { body } = await node.holdfast.renderMetrics()
    expect(body).toContain('holdfast_source_messages_total{source="shop",outcome="published"} 1000')
    expect(body).toContain('holdfast_source_connections{source="shop"} 1')
  })

  test('makes one event of messages with the same id, also on two nodes', async () => {
    await rig.send([...orders(20), ...orders(20), ...orders(20)], (index) => ({
      messageId: `m-${index % 20}`,
    }))
    await holdfast.sources.create(rig.source('shop', { ...typed, prefetch: 3 }))
    await rig.rig.start({ nodeName: 'a' })
    await rig.rig.start({ nodeName: 'b' })
    await until(
      'the queue to be empty',
      async () => {
        const { nodes } = await holdfast.sources.get('shop')
        return nodes.reduce((sum, { published }) => sum + published, 0)
      },
      (published) => published === 60,
      20_000,
    )
    expect((await rig.bodies()).toSorted()).toEqual(orders(20).toSorted())
  })

  test('publishes twice what has no id and comes twice, and tells messages apart by a template where they have none', async () => {
    await rig.send([order(1), order(1)])
    await holdfast.sources.create(rig.source('shop', typed))
    await rig.rig.start()
    await rig.events(2)
    await holdfast.sources.update('shop', { config: { idempotencyKey: '{{ body.id }}' } })
    await rig.send([order(7), order(7), order(8)])
    await rig.events(4)
    expect(await rig.bodies()).toEqual([1, 1, 7, 8].map(order))
  })

  test('holds no more messages than its prefetch while the database takes none, and loses nothing', async () => {
    const database = await CuttingProxy.start(rig.rig.database.url)
    await holdfast.sources.create(rig.source('shop', { ...typed, prefetch: 7 }))
    const node = await rig.rig.start({ databaseUrl: database.url })
    await until(
      'it to be connected',
      () => rig.nodeState('shop'),
      (seen) => seen?.state === 'connected',
    )
    database.swallow()
    await rig.send(orders(30), (index) => ({ messageId: String(index) }))
    expect(
      await until(
        'the prefetch to be out',
        () => rig.ready(),
        (ready) => ready <= 23,
      ),
    ).toBe(23)
    database.carry()
    expect(await rig.events(30, 60_000)).toEqual(orders(30))
    await until(
      'all to be acknowledged',
      () => rig.nodeState('shop'),
      (seen) => seen?.unacknowledged === 0,
      30_000,
    )
    await node.holdfast.stop()
    expect(await rig.ready()).toBe(0)
    await database.stop()
  })

  test('makes one event when the answer to its commit is lost', async () => {
    const database = await CuttingProxy.start(rig.rig.database.url)
    await holdfast.sources.create(rig.source('shop', typed))
    const node = await rig.rig.start({ databaseUrl: database.url })
    await until(
      'it to be connected',
      () => rig.nodeState('shop'),
      (seen) => seen?.state === 'connected',
    )
    const lost = database.loseNextAnswer('marked-order')
    await rig.send(['{"id":"marked-order"}'], () => ({ messageId: 'm-1' }))
    await lost
    await until(
      'it to be published',
      () => rig.nodeState('shop'),
      (seen) => seen?.published === 1,
      20_000,
    )
    expect(await rig.bodies()).toEqual(['{"id":"marked-order"}'])
    await node.holdfast.stop()
    expect(await rig.ready()).toBe(0)
    await database.stop()
  })

  test('connects again after the connection was cut in the middle, and makes one event of each message', async () => {
    const proxy = await CuttingProxy.start(brokerUrl ?? '')
    await holdfast.sources.create(
      rig.source('shop', { ...typed, prefetch: 5, url: proxy.url.replace('//', '//guest:guest@') }),
    )
    await rig.rig.start()
    await rig.send(orders(200), (index) => ({ messageId: String(index) }))
    for (const count of [20, 80, 140]) {
      await rig.events(count)
      proxy.cutAll()
    }
    await rig.events(200, 30_000)
    await until(
      'the queue to be empty',
      () => rig.nodeState('shop'),
      (seen) => seen?.unacknowledged === 0,
    )
    expect((await rig.bodies()).toSorted()).toEqual(orders(200).toSorted())
    await holdfast.sources.pause('shop')
    await proxy.stop()
  })

  test('keeps what can not become an event as it came, acknowledges it, and publishes it once the mapping is fixed', async () => {
    await holdfast.eventTypes.create({ name: 'strict.order', schema: { type: 'object', required: ['id'] } })
    await holdfast.sources.create(rig.source('shop', { eventType: '{{ headers.type }}' }))
    await rig.rig.start()
    const headers = (type: string) => ({ headers: { type }, messageId: `${type}-1` })
    await rig.send(['{"id":1}'], () => headers('order.created'))
    await rig.send(['not json'], () => headers('order.created-2'))
    await rig.send([Buffer.from([0xff, 0xfe])], () => headers('order.bytes'))
    await rig.send(['{}'], () => ({ messageId: 'no-type' }))
    await rig.send(['{}'], () => headers('not a type'))
    await rig.send(['{"name":"x"}'], () => headers('strict.order'))
    await rig.send(['{"id":1,"other":true}'], () => headers('order.created'))
    await rig.send(['{"id":2}'], () => ({ ...headers('order.created'), messageId: 'last' }))
    await rig.events(2)
    expect(await rig.bodies()).toEqual(['{"id":1}', '{"id":2}'])
    const rejects = await holdfast.sourceRejects.list({ source: 'shop' })
    expect(rejects.map(({ code }) => code)).toEqual([
      'idempotency_conflict',
      'schema_violation',
      'invalid_options',
      'template_missing_value',
      'body_not_text',
      'payload_invalid_json',
    ])
    expect(await holdfast.sourceRejects.get(rejects[4]!.id)).toMatchObject({
      body: '//4=',
      bodyEncoding: 'base64',
      messageId: 'order.bytes-1',
      fields: { headers: { type: 'order.bytes' }, queue: rig.queue },
    })
    await expect.poll(() => rig.nodeState('shop')).toMatchObject({ state: 'connected' })
    expect(await rig.ready()).toBe(0)

    expect(await holdfast.sourceRejects.retry(rejects[5]!.id)).toMatchObject({
      published: false,
      error: expect.stringContaining('not valid JSON'),
    })
    await holdfast.sources.update('shop', {
      config: { eventType: '{{ headers.type ?? "order.unknown" }}', payload: { raw: '{{ base64 }}' } },
    })
    expect(await holdfast.sourceRejects.retryAll('shop')).toEqual({
      published: 3,
      failed: 3,
      isComplete: false,
    })
    expect((await rig.bodies()).slice(2)).toEqual([
      `{"raw":"${Buffer.from('not json').toString('base64')}"}`,
      '{"raw":"//4="}',
      `{"raw":"${Buffer.from('{}').toString('base64')}"}`,
    ])
    const [first] = await holdfast.sourceRejects.list()
    await holdfast.sourceRejects.discard(first!.id)
    await expect(holdfast.sources.delete('shop')).rejects.toMatchObject({ code: 'still_owed' })
    expect(await holdfast.sourceRejects.discardAll('shop')).toBe(2)
    await holdfast.sources.delete('shop')
    await until(
      'the node to leave the queue',
      async () => {
        const { consumerCount } = await rig.withChannel((channel) => channel.checkQueue(rig.queue))
        return consumerCount
      },
      (count) => count === 0,
    )
  })

  test('stops after a thousand unreadable messages in a row, and leaves the rest in the queue', async () => {
    await rig.send(Array.from({ length: 1300 }, () => 'no json'))
    await holdfast.sources.create(rig.source('shop', { ...typed, prefetch: 100 }))
    await rig.rig.start()
    const stopped = await until(
      'it to be stopped',
      () => holdfast.sources.get('shop'),
      ({ state }) => state === 'rejecting',
      20_000,
    )
    expect(stopped.stateReason).toContain('messages in a row')
    await until(
      'the node to leave',
      () => rig.withChannel(async (channel) => (await channel.checkQueue(rig.queue)).consumerCount),
      (count) => count === 0,
    )
    expect((await holdfast.sources.get('shop')).rejects + (await rig.ready())).toBe(1300)
  })

  test('waits while the installation takes no more events, and goes on when it does', async () => {
    await holdfast.endpoints.create({ name: 'sink', transport: 'function', eventTypes: ['order.*'] })
    await holdfast.settings.set('max_pending', 1)
    await holdfast.endpoints.pause('sink')
    await holdfast.send('sink', {})
    await holdfast.send('sink', {}).catch(() => {})
    await holdfast.sources.create(rig.source('shop', typed))
    const node = await rig.rig.start()
    await rig.send(orders(5), (index) => ({ messageId: String(index) }))
    const stalled = await until(
      'it to stall',
      () => rig.nodeState('shop'),
      // The bound is soft: what is published before the node has said what is owed may pass it.
      (seen) => seen?.state === 'stalled' && seen.received === 5,
      20_000,
    )
    expect(stalled).toMatchObject({ rejected: 0 })
    expect(stalled?.unacknowledged).toBeGreaterThan(0)
    expect(stalled?.error).toContain('pending')
    await holdfast.settings.set('max_pending', 0)
    await until(
      'them to be published',
      () => rig.nodeState('shop'),
      (seen) => seen?.published === 5,
      30_000,
    )
    expect(node.complaints.filter((line) => line.includes('unexpected'))).toEqual([])
  })

  test('says why it is not connected: a queue that is missing, a wrong password, a broker that is away', async () => {
    const errorOf = async (name: string) => {
      const seen = await until(
        'an error',
        () => rig.nodeState(name),
        (state) => state?.state === 'disconnected',
        20_000,
      )
      return seen?.error
    }
    await holdfast.sources.create(rig.source('missing', { ...typed, queue: `${rig.queue}-missing` }))
    await holdfast.sources.create(
      rig.source('password', { ...typed, url: (brokerUrl ?? '').replace('//', '//guest:wr0ng@') }),
    )
    await holdfast.sources.create(rig.source('away', { ...typed, url: 'amqp://127.0.0.1:1' }))
    await rig.rig.start()
    expect(await errorOf('missing')).toContain('there is no such queue')
    expect(await errorOf('password')).toContain('refused this user')
    expect(await errorOf('away')).toContain('refused')
    const findings = await rig.rig.rows(
      `select * from holdfast_internal.alert_findings('source_disconnected', 0, null, null)`,
    )
    expect(findings.map(({ subject }) => String(subject)).toSorted()).toEqual(['away', 'missing', 'password'])
  })

  test('never shows its password, and keeps it through an update', async () => {
    await holdfast.sources.create(rig.source('shop', typed))
    await holdfast.sources.update('shop', { config: { prefetch: 9 } })
    const shown = JSON.stringify([
      await holdfast.sources.get('shop'),
      await holdfast.sources.list(),
      await rig.rig.rows('select * from holdfast_internal.event_sources'),
      await rig.rig.rows('select * from holdfast_internal.audit_log'),
    ])
    expect(shown).toContain('guest:[hidden]@')
    expect(shown).not.toContain('guest:guest')
    await rig.rig.start()
    await until(
      'it to be connected',
      () => rig.nodeState('shop'),
      (seen) => seen?.state === 'connected',
    )
    expect(JSON.stringify(await holdfast.sources.get('shop'))).not.toContain('guest:guest')
  })

  test.each([
    [{ queue: '' }, 'config.queue'],
    [{ url: 'https://rabbit.example' }, 'config.url'],
    [{ url: 'amqp://10.0.0.1' }, '10.0.0.0/8'],
    [{ prefetch: 0 }, 'config.prefetch'],
    [{ eventType: '{{ $eventType }}' }, 'not known in a source'],
    [{ payload: '{{ body' }, 'config.payload'],
    [{ qeueu: 'a' }, 'config.qeueu'],
  ])('refuses %j', async (config, problem) => {
    await expect(holdfast.sources.create(rig.source('shop', config as object))).rejects.toThrow(problem)
  })
})
