import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

describe('looking things up', () => {
  let rig: Rig
  let node: RunningNode
  let good: string
  let bad: string

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start()
    good = await functionEndpoint(node.holdfast, () => {})
    bad = await functionEndpoint(
      node.holdfast,
      ({ payload }) => {
        const { order } = payload as { order: number }
        throw order % 2 === 0
          ? new PermanentError(`order ${order} is unknown at https://shop-${order}.example.com/orders`)
          : new PermanentError('no such customer')
      },
      { circuit: { threshold: 1000 } },
    )
    for (let order = 0; order < 8; order += 1) {
      await node.holdfast.send(
        bad,
        { order },
        {
          type: order < 4 ? 'order.created' : 'order.paid',
          correlationId: `c-${order}`,
          headers: { 'x-order': String(order) },
        },
      )
    }
    await node.holdfast.sendBatch(
      good,
      Array.from({ length: 5 }, (_, order) => ({ payload: { order }, type: 'order.created' })),
    )
    await rig.whenSettled(bad)
    await rig.whenSettled(good)
  })
  afterAll(() => rig.stop())

  describe('dead letters', () => {
    it('are listed newest first, page by page, each once', async () => {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await node.holdfast.deadLetters.list({
          endpoint: bad,
          limit: 3,
          ...(cursor !== undefined && { cursor }),
        })
        seen.push(...page.data.map(({ correlationId }) => correlationId ?? ''))
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      expect(seen.toSorted()).toEqual(Array.from({ length: 8 }, (_, order) => `c-${order}`))
      const ids = (await node.holdfast.deadLetters.list({ endpoint: bad })).data.map(({ id }) => id)
      expect(ids).toEqual(ids.toSorted().toReversed())
    })

    it.each([
      [{ correlationId: 'c-3' }, ['c-3']],
      [{ eventType: 'order.paid', error: 'NO SUCH' }, ['c-5', 'c-7']],
      [{ eventType: 'order.*', error: 'order 2 is' }, ['c-2']],
      [
        {
          class: 'permanent' as const,
          reason: 'permanent',
          errorCode: 'handler_error',
          correlationId: 'c-0',
        },
        ['c-0'],
      ],
      [{ class: 'gone' as const }, []],
      [{ statusCode: 422 }, []],
      [{ state: 'resolved' as const }, []],
      [{ tenant: 'nobody' }, []],
      [{ to: '2024-01-01T00:00:00Z' }, []],
      [{ from: '2024-01-01T00:00:00Z', correlationId: 'c-6' }, ['c-6']],
    ])('are filtered by %j', async (filter, expected) => {
      const { data } = await node.holdfast.deadLetters.list({ ...filter, endpoint: bad })
      expect(data.map(({ correlationId }) => String(correlationId)).toSorted()).toEqual(expected)
    })

    it('come whole: message, headers, error and every attempt', async () => {
      const { data } = await node.holdfast.deadLetters.list({ correlationId: 'c-2' })
      const letter = await node.holdfast.deadLetters.get(data[0]!.id)
      expect(letter).toMatchObject({
        endpoint: bad,
        state: 'open',
        reason: 'permanent',
        class: 'permanent',
        message: { payload: { order: 2 }, headers: { 'x-order': '2' }, type: 'order.created' },
        attempts: [{ attempt: 1, outcome: 'permanent', deliveryId: letter.deliveryId }],
      })
    })

    it('are grouped by what is wrong, whatever the ids, numbers and hosts in its text', async () => {
      const groups = await node.holdfast.deadLetters.groups({ endpoint: bad })
      expect(groups.map(({ count, endpoint }) => [count, endpoint])).toEqual([
        [4, bad],
        [4, bad],
      ])
      const sample = groups.find(({ sample: { error } }) => error?.includes('is unknown'))
      expect(sample?.firstSeenAt.getTime()).toBeLessThanOrEqual(sample?.lastSeenAt.getTime() ?? 0)
      const members = await node.holdfast.deadLetters.list({ fingerprint: sample!.fingerprint })
      expect(members.data.map(({ correlationId }) => String(correlationId)).toSorted()).toEqual([
        'c-0',
        'c-2',
        'c-4',
        'c-6',
      ])
    })

    it('are summed up for each endpoint', async () => {
      const summary = await node.holdfast.deadLetters.summary()
      expect(summary.find(({ endpoint }) => endpoint === bad)).toMatchObject({
        dead: 8,
        redriven: 0,
        resolved: 0,
        discarded: 0,
      })
    })
  })

  describe('deliveries', () => {
    it('are found whether done, dead or owed', async () => {
      await node.holdfast.endpoints.pause(good)
      const waiting = await node.holdfast.send(
        good,
        { order: 99 },
        { deliverAt: new Date(Date.now() + 3_600_000) },
      )
      const all = await node.holdfast.deliveries.list({ endpoint: good })
      expect(all.data.map(({ state }) => state)).toEqual(['pending', ...Array(5).fill('succeeded')])
      expect(all.data[0]).toMatchObject({ id: waiting.deliveryId, endpoint: good, attempt: 0 })
      expect(all.data[0]?.nextAttemptAt?.getTime()).toBeGreaterThan(Date.now())
      expect((await node.holdfast.deliveries.list({ endpoint: good, state: 'pending' })).data).toHaveLength(1)
      expect((await node.holdfast.deliveries.list({ endpoint: good, state: 'succeeded' })).data).toHaveLength(
        5,
      )
      expect((await node.holdfast.deliveries.list({ endpoint: bad, state: 'dead' })).data).toHaveLength(8)
      expect((await node.holdfast.deliveries.list({ endpoint: bad, state: 'succeeded' })).data).toEqual([])
      await node.holdfast.endpoints.resume(good)
    })

    it.each([
      [{ eventType: 'order.paid' }, 4],
      [{ correlationId: 'c-1' }, 1],
      [{ error: 'no such customer' }, 4],
      [{ errorCode: 'handler_error', state: 'dead' as const }, 8],
      [{ state: 'expired' as const }, 0],
      [{ to: '2024-06-01T00:00:00Z' }, 0],
    ])('are filtered by %j', async (filter, count) => {
      const { data } = await node.holdfast.deliveries.list({ ...filter, endpoint: bad })
      expect(data).toHaveLength(count)
    })

    it('come page by page, each once, over all their places', async () => {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await node.holdfast.deliveries.list({
          limit: 4,
          ...(cursor !== undefined && { cursor }),
        })
        seen.push(...page.data.map(({ id }) => id))
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen).toHaveLength(14)
      expect(seen).toEqual(seen.toSorted().toReversed())
    })

    it('that ended keep the ordering key and the criticality of their message', async () => {
      const endpoint = await functionEndpoint(node.holdfast, () => {})
      const { deliveryId } = await node.holdfast.send(
        endpoint,
        { order: 1 },
        { orderingKey: 'customer-7', criticality: 'critical' },
      )
      await rig.whenSettled(endpoint)
      expect(await node.holdfast.deliveries.get(deliveryId)).toMatchObject({
        state: 'succeeded',
        orderingKey: 'customer-7',
        criticality: 'critical',
      })
    })

    it('that ended don’t say which criticality their route gave them, because it isn’t kept', async () => {
      const endpoint = await functionEndpoint(node.holdfast, () => {})
      const route = { name: `to-${endpoint}`, eventType: 'parcel.sent', criticality: 'critical' } as const
      await node.holdfast.routes.create({ ...route, endpoint })
      await node.holdfast.publish('parcel.sent', { parcel: 1 }, { orderingKey: 'parcel-1' })
      await node.holdfast.publish('parcel.sent', { parcel: 2 }, { criticality: 'best_effort' })
      await rig.whenSettled(endpoint)
      const { data } = await node.holdfast.deliveries.list({ endpoint })
      expect(data.map(({ orderingKey, criticality }) => ({ orderingKey, criticality }))).toEqual([
        { orderingKey: null, criticality: 'best_effort' },
        { orderingKey: 'parcel-1', criticality: null },
      ])
    })

    it('come with their attempts', async () => {
      const { data } = await node.holdfast.deliveries.list({ endpoint: bad, correlationId: 'c-1' })
      const delivery = await node.holdfast.deliveries.get(data[0]!.id)
      expect(delivery).toMatchObject({
        state: 'dead',
        attempt: 1,
        error: expect.stringContaining('no such customer'),
        attempts: [{ attempt: 1, outcome: 'permanent', error: expect.stringContaining('no such customer') }],
      })
      expect(delivery.deadLetterId).toMatch(/^dlt_/)
    })

    it('between two attempts are pending, with their last error', async () => {
      const flaky = await functionEndpoint(node.holdfast, () => {
        throw new Error('try later')
      })
      const { deliveryId } = await node.holdfast.send(flaky, 1)
      const delivery = await until(
        'the first attempt to be recorded',
        () => node.holdfast.deliveries.get(deliveryId),
        ({ attempt }) => attempt === 1,
      )
      expect(delivery).toMatchObject({
        state: 'pending',
        attempt: 1,
        error: expect.stringContaining('try later'),
      })
      expect(delivery.nextAttemptAt).not.toBeNull()
      expect(
        (await node.holdfast.deliveries.list({ endpoint: flaky, state: 'pending', error: 'later' })).data,
      ).toHaveLength(1)
      expect(
        (await node.holdfast.deliveries.list({ endpoint: flaky, state: 'pending', error: 'other' })).data,
      ).toEqual([])
    })
  })

  describe('events', () => {
    it('that match no route are found as unrouted', async () => {
      const { id } = await node.holdfast.publish('nobody.cares', { n: 1 }, { correlationId: 'lonely' })
      const { data } = await node.holdfast.events.list({ state: 'unrouted' })
      expect(data).toMatchObject([{ id, type: 'nobody.cares', state: 'unrouted' }])
      expect((await node.holdfast.events.list({ correlationId: 'lonely' })).data).toHaveLength(1)
      expect(await node.holdfast.events.get(id)).toMatchObject({ payload: { n: 1 }, deliveries: [] })
    })

    it('come with their deliveries and attempts', async () => {
      for (const name of ['fan-a', 'fan-b']) {
        node.holdfast.handle(name, () => {})
        await node.holdfast.endpoints.create({ name, transport: 'function', eventTypes: ['fan.*'] })
      }
      const { id } = await node.holdfast.publish('fan.out', { n: 2 })
      const event = await until(
        'both to be delivered',
        () => node.holdfast.events.get(id),
        ({ deliveries }) => deliveries.filter(({ state }) => state === 'succeeded').length === 2,
      )
      expect(event.deliveries.map(({ endpoint }) => String(endpoint)).toSorted()).toEqual(['fan-a', 'fan-b'])
      expect(event.deliveries[1]?.attempts).toMatchObject([{ attempt: 1, outcome: 'success' }])
      const listed = await node.holdfast.deliveries.list({ messageId: id })
      expect(listed.data.map(({ id }) => id).toReversed()).toEqual(event.deliveries.map(({ id }) => id))
    })

    it('are filtered by type and time', async () => {
      expect((await node.holdfast.events.list({ eventType: 'order.paid' })).data).toHaveLength(4)
      expect((await node.holdfast.events.list({ eventType: 'order.*', limit: 500 })).data).toHaveLength(13)
      expect((await node.holdfast.events.list({ to: '2024-06-01T00:00:00Z' })).data).toEqual([])
    })
  })

  it.each([
    ['an unknown field', () => node.holdfast.deadLetters.list({ colour: 'red' } as never), 'invalid_filter'],
    [
      'a state that there is not',
      () => node.holdfast.deliveries.list({ state: 'lost' } as never),
      'invalid_filter',
    ],
    ['a broken cursor', () => node.holdfast.events.list({ cursor: 'dlv_00000000001' }), 'invalid_filter'],
    [
      'an unknown endpoint',
      () => node.holdfast.deliveries.list({ endpoint: 'nowhere' }),
      'endpoint_not_found',
    ],
    ['an unknown route', () => node.holdfast.deadLetters.list({ route: 'nowhere' }), 'route_not_found'],
    ['an unknown letter', () => node.holdfast.deadLetters.get('dlt_00000000001'), 'dead_letter_not_found'],
    ['no id at all', () => node.holdfast.deliveries.get("'; drop table"), 'delivery_not_found'],
    ['an unknown event', () => node.holdfast.events.get('msg_00000000001'), 'event_not_found'],
  ])('says what is wrong with %s', async (_, call, code) => {
    await expect(call()).rejects.toMatchObject({ code })
  })

  it('takes any text in a filter for a text', async () => {
    const nasty = `'; drop table holdfast_internal.dead_letters; -- %L $1 \\`
    for (const field of [
      'error',
      'errorCode',
      'reason',
      'fingerprint',
      'tenant',
      'eventType',
      'correlationId',
    ]) {
      expect((await node.holdfast.deadLetters.list({ [field]: nasty })).data).toEqual([])
    }
    expect((await node.holdfast.deliveries.list({ error: nasty, eventType: nasty })).data).toEqual([])
    expect((await node.holdfast.events.list({ correlationId: nasty })).data).toEqual([])
    expect(await rig.count('dead_letters')).toBe(8)
  })
})
