import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/index.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

interface Taken {
  readonly webhookId: string
  readonly payload: unknown
}

describe('a replay', () => {
  let rig: Rig
  let node: RunningNode
  const anHourAgo = new Date(Date.now() - 3_600_000)
  const inAnHour = new Date(Date.now() + 3_600_000)
  const range = { from: anHourAgo, to: inAnHour }

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
    await node.holdfast.endpoints.create({ name: 'elsewhere', transport: 'function' })
  })
  afterAll(() => rig.stop())

  async function recording(settings: Parameters<typeof functionEndpoint>[2] = {}) {
    const taken: Taken[] = []
    const name = await functionEndpoint(
      node.holdfast,
      ({ id, payload }) => void taken.push({ webhookId: id, payload }),
      { limits: { concurrency: 1 }, ...settings },
    )
    return { name, taken }
  }

  const ended = (operation: Operation) =>
    until(
      `operation ${operation.id} to end`,
      () => node.holdfast.operations.get(operation.id),
      ({ state }) => state === 'succeeded' || state === 'failed',
    )

  it('takes up nothing whose settling was still under way when its preview looked', async () => {
    const { name } = await recording()
    await rig.pause(node, name)
    const { deliveryId } = await node.holdfast.send(name, 1)
    const settling = await rig.database.pool.connect()
    try {
      await settling.query('begin')
      await settling.query(
        `select holdfast_internal.settle_successes(1, array[holdfast.parse_id('dlv', $1)], '{}', array[$2::int], '{}', '{1}', '{0}', '{1}', '{}')`,
        [deliveryId, await rig.laneId(name)],
      )
      // Somebody younger ends before it: the snapshot reaches beyond both.
      await rig.rows('select pg_current_xact_id()')
      const { count, asOf } = await node.holdfast.replays.preview({ endpoint: name, ...range })
      expect(count).toBe(0)
      await settling.query('commit')
      expect(await node.holdfast.replays.create({ endpoint: name, ...range, asOf })).toMatchObject({
        total: 0,
      })
      expect(await node.holdfast.replays.preview({ endpoint: name, ...range })).toMatchObject({ count: 1 })
    } finally {
      settling.release(true)
    }
  })

  it('of one message sends it under a new webhook-id and names the original message', async () => {
    const { name, taken } = await recording()
    const { id } = await node.holdfast.send(
      name,
      { n: 1 },
      { expiresAt: new Date(Date.now() + 60_000), idempotencyKey: 'once' },
    )
    await rig.whenSettled(name)
    const messages = await rig.count('messages')
    const { deliveryIds } = await node.holdfast.replays.one(id)
    await rig.whenSettled(name)
    expect(taken.map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 1 }])
    expect(taken[0]?.webhookId).toBe(id)
    expect(taken[1]?.webhookId).not.toBe(id)
    const delivery = await node.holdfast.deliveries.get(deliveryIds[0]!)
    expect(delivery).toMatchObject({
      state: 'succeeded',
      messageId: taken[1]?.webhookId,
      replayOf: id,
      expiresAt: null,
    })
    expect((await node.holdfast.events.get(taken[1]!.webhookId)).id).toBe(id)
    expect((await node.holdfast.events.get(id)).deliveries).toHaveLength(2)
    // No body is written again.
    expect(await rig.count('messages')).toBe(messages)
    expect(await rig.count('messages_kept')).toBe(0)
  })

  it('of one message goes to each original destination once, regardless of earlier redrives and replays', async () => {
    const first = await recording({ eventTypes: ['ways.*'] })
    const second = await recording({ eventTypes: ['ways.*'] })
    const { id } = await node.holdfast.publish('ways.many', 1)
    await until('both', () => first.taken.length + second.taken.length === 2)
    await rig.whenSettled(first.name)
    await rig.whenSettled(second.name)
    expect((await node.holdfast.replays.one(id)).deliveryIds).toHaveLength(2)
    await until('both again', () => first.taken.length + second.taken.length === 4)
    await rig.whenSettled(first.name)
    await rig.whenSettled(second.name)
    expect((await node.holdfast.replays.one(first.taken[1]!.webhookId)).deliveryIds).toHaveLength(2)
    await rig.whenSettled(first.name)
    expect(first.taken).toHaveLength(3)
  })

  it('of an unrouted event requires a target, and is delivered there', async () => {
    const { name, taken } = await recording()
    const { id } = await node.holdfast.publish('nobody.cares', { n: 7 })
    await expect(node.holdfast.replays.one(id)).rejects.toMatchObject({ code: 'invalid_filter' })
    await node.holdfast.replays.one(id, { targetEndpoint: name })
    await rig.whenSettled(name)
    expect(taken.map(({ payload }) => payload)).toEqual([{ n: 7 }])
    await expect(node.holdfast.replays.one(id, { targetEndpoint: 'nowhere' })).rejects.toMatchObject({
      code: 'endpoint_not_found',
    })
    await expect(node.holdfast.replays.one('msg_00000000001')).rejects.toMatchObject({
      code: 'event_not_found',
    })
    await expect(node.holdfast.replays.one('nonsense')).rejects.toMatchObject({ code: 'event_not_found' })
  })

  it('of a range counts first, then sends in order, and does not repeat itself', async () => {
    const { name, taken } = await recording()
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 20 }, (_, n) => ({ payload: n, type: n < 15 ? 'range.a' : 'range.b' })),
    )
    await rig.whenSettled(name)
    const input = { endpoint: name, eventType: 'range.a', state: 'succeeded', ...range } as const
    const { count, asOf } = await node.holdfast.replays.preview(input)
    expect(count).toBe(15)
    expect(taken).toHaveLength(20)
    expect(await ended(await node.holdfast.replays.create({ ...input, asOf }))).toMatchObject({
      kind: 'replay',
      total: 15,
      done: 15,
    })
    await rig.whenSettled(name)
    expect(taken.slice(20).map(({ payload }) => payload)).toEqual(Array.from({ length: 15 }, (_, n) => n))
    expect(new Set(taken.map(({ webhookId }) => webhookId)).size).toBe(35)
    // What was replayed isn't replayed: its original is.
    expect((await node.holdfast.replays.preview(input)).count).toBe(15)
  })

  it.each([
    ['scattered', 10],
    ['neighbouring', 2],
  ])(
    'takes %s messages every way that they went, each once, also those that are kept apart',
    async (kind, every) => {
      const type = `${kind}.wanted`
      const wanted = Array.from({ length: 60 }, (_, n) => n).filter((n) => n % every === 0)
      const ways = [await recording({ eventTypes: [type] }), await recording({ eventTypes: [type] })]
      const other = await recording({ eventTypes: [`${kind}.other`] })
      await node.holdfast.publishBatch(
        Array.from({ length: 60 }, (_, n) => ({
          type: n % every === 0 ? type : `${kind}.other`,
          payload: n,
        })),
      )
      for (const { name } of [...ways, other]) await rig.whenSettled(name)
      await rig.rows(
        `with moved as (delete from holdfast_internal.messages where type = $1 and body::text in ('10', '40') returning *)
       insert into holdfast_internal.messages_kept select * from moved`,
        [type],
      )
      const total = 2 * wanted.length
      const operation = await node.holdfast.replays.create({ eventType: type, ...range })
      expect(await ended(operation)).toMatchObject({ total, done: total, skipped: 0 })
      for (const { name, taken } of ways) {
        await rig.whenSettled(name)
        expect(taken.map(({ payload }) => payload)).toEqual([...wanted, ...wanted])
        expect(new Set(taken.map(({ webhookId }) => webhookId)).size).toBe(2 * wanted.length)
      }
      expect(other.taken).toHaveLength(60 - wanted.length)
    },
  )

  it('does not take what ended after its preview', async () => {
    const { name, taken } = await recording()
    await node.holdfast.send(name, 'before')
    await rig.whenSettled(name)
    const { asOf } = await node.holdfast.replays.preview({ endpoint: name, ...range })
    await node.holdfast.send(name, 'after')
    await rig.whenSettled(name)
    expect(await ended(await node.holdfast.replays.create({ endpoint: name, ...range, asOf }))).toMatchObject(
      {
        total: 1,
        done: 1,
      },
    )
    await rig.whenSettled(name)
    expect(taken.map(({ payload }) => payload)).toEqual(['before', 'after', 'before'])
  })

  it('of a range finds deliveries of every final state, each once', async () => {
    const taken: unknown[] = []
    const name = await functionEndpoint(
      node.holdfast,
      ({ payload }) => {
        if (payload === 'refused') throw new PermanentError('no')
        taken.push(payload)
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.sendBatch(name, [{ payload: 'taken' }, { payload: 'refused' }])
    await node.holdfast.send(name, 'expired', { expiresAt: new Date(Date.now() - 1000) })
    const { deliveryId } = await node.holdfast.send(name, 'cancelled', { deliverAt: inAnHour })
    await node.holdfast.deliveries.cancel(deliveryId)
    await rig.whenSettled(name)
    const count = async (state?: 'succeeded' | 'dead' | 'expired' | 'cancelled' | 'dropped') =>
      (await node.holdfast.replays.preview({ endpoint: name, ...range, ...(state && { state }) })).count
    expect(
      await Promise.all([count('succeeded'), count('dead'), count('expired'), count('cancelled')]),
    ).toEqual([1, 1, 1, 1])
    expect(await count('dropped')).toBe(0)
    expect(await count()).toBe(4)
  })

  it('of a range with the state "failed" selects dead, expired and dropped deliveries, and rejects an unknown state', async () => {
    let isBroken = true
    const taken: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => {
      if (isBroken && payload !== 'fine') throw new PermanentError('no')
      taken.push(payload)
    })
    const from = new Date(Date.now() - 60_000)
    const to = new Date(Date.now() + 60_000)
    await node.holdfast.send(name, 'fine')
    await node.holdfast.send(name, 'dead')
    await node.holdfast.send(name, 'dropped', { criticality: 'best_effort' })
    await until('all to end', () =>
      rig.value(
        `select count(*) = 0 from holdfast_internal.deliveries where lane_id = (select id from holdfast_internal.endpoints where name = $1)`,
        [name],
      ),
    )
    await expect(
      rig.value('select holdfast.replay_range($1, $2, $3, $4)', [name, from, to, 'broken']),
    ).rejects.toMatchObject({ code: 'HF007', hint: expect.stringContaining('failed') })
    isBroken = false
    await rig.value('select holdfast.replay_range($1, $2, $3, $4)', [name, from, to, 'failed'])
    await until('both to arrive', () => taken.length === 3)
    expect(taken).toEqual(['fine', 'dead', 'dropped'])
    const preview = await node.holdfast.replays.preview({
      endpoint: name,
      from,
      to,
      state: 'failed',
    } as never)
    expect(preview).toMatchObject({ count: 2 })
  })

  it('of a range of messages sends each once to another endpoint, without the original transforms', async () => {
    await recording({ eventTypes: ['target.*'] })
    await recording({ eventTypes: ['target.*'] })
    const target = await recording()
    for (const n of [1, 2, 3]) await node.holdfast.publish('target.a', { n })
    const operation = await node.holdfast.replays.create({
      eventType: 'target.*',
      targetEndpoint: target.name,
      ...range,
    })
    expect(await ended(operation)).toMatchObject({ total: 3, done: 3 })
    await rig.whenSettled(target.name)
    expect(target.taken.map(({ payload }) => payload)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  const doubled = { type: 'template', template: '{ "twice": "{{ n }}{{ n }}" }' } as const

  it('to the same endpoint applies the transform of its route; to another one it sends the message as published', async () => {
    const { name, taken } = await recording()
    const other = await recording()
    await node.holdfast.routes.create({
      name: 'doubling',
      eventType: 'shape.*',
      endpoint: name,
      transform: doubled,
    })
    const { id } = await node.holdfast.publish('shape.a', { n: 4 })
    await until('delivered', () => taken.length === 1)
    await rig.whenSettled(name)
    await node.holdfast.replays.one(id)
    await until('replayed', () => taken.length === 2)
    await node.holdfast.replays.one(id, { targetEndpoint: other.name })
    await rig.whenSettled(other.name)
    expect(taken.map(({ payload }) => payload)).toEqual([{ twice: '44' }, { twice: '44' }])
    expect(other.taken.map(({ payload }) => payload)).toEqual([{ n: 4 }])
  })

  it('along a route takes what the route wants, as though it had been there, and gives it its shape', async () => {
    for (const n of [1, 2, 3, 4]) await node.holdfast.publish('backfill.created', { n }, { orderingKey: 'k' })
    await node.holdfast.publish('backfill.created', { n: 5 }, { tenant: 'somebody' })
    await node.holdfast.publish('backfill.other', { n: 6 })
    // No jsonb holds this number, so that no filter can look at it.
    await node.holdfast.publish('backfill.created', { n: 7 })
    await rig.rows(
      `update holdfast_internal.messages set body = '{"n": 1e999999}' where type = 'backfill.created' and body ->> 'n' = '7'`,
    )
    const { name, taken } = await recording()
    await node.holdfast.routes.create({
      name: 'late-route',
      eventType: 'backfill.created',
      filter: '$.n > 1',
      endpoint: name,
      transform: doubled,
      criticality: 'critical',
      enabled: false,
    })
    const input = { eventType: 'backfill.*', targetRoute: 'late-route', ...range }
    const { count, asOf } = await node.holdfast.replays.preview(input)
    expect(count).toBe(3)
    await node.holdfast.endpoints.pause(name)
    expect(await ended(await node.holdfast.replays.create({ ...input, asOf }))).toMatchObject({
      total: 3,
      done: 3,
    })
    const { data } = await node.holdfast.deliveries.list({ endpoint: name })
    expect(
      new Set(data.map(({ route, orderingKey, criticality }) => [route, orderingKey, criticality].join())),
    ).toEqual(new Set(['late-route,k,critical']))
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(taken.map(({ payload }) => payload)).toEqual([{ twice: '22' }, { twice: '33' }, { twice: '44' }])
    // Who names one message means it, whatever the filter says.
    const first = (await node.holdfast.events.list({ eventType: 'backfill.created' })).data.at(-1)
    await node.holdfast.replays.one(first!.id, { targetRoute: 'late-route' })
    await rig.whenSettled(name)
    expect(taken.at(-1)?.payload).toEqual({ twice: '11' })
  })

  it('keeps the ordering key: one after the other, also behind a retry', async () => {
    const taken: unknown[] = []
    let failures = 0
    const name = await functionEndpoint(
      node.holdfast,
      ({ payload }) => {
        if (failures > 0 && payload === 1) {
          failures -= 1
          throw new Error('not yet')
        }
        taken.push(payload)
      },
      { limits: { concurrency: 8 }, retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' } },
    )
    await node.holdfast.sendBatch(
      name,
      [1, 2, 3, 4].map((payload) => ({ payload, orderingKey: 'customer-7' })),
    )
    await rig.whenSettled(name)
    failures = 2
    await ended(await node.holdfast.replays.create({ endpoint: name, ...range }))
    await rig.whenSettled(name)
    expect(taken).toEqual([1, 2, 3, 4, 1, 2, 3, 4])
    expect(failures).toBe(0)
  })

  it('counts and takes neither the inputs of jobs nor what went along a route that is gone', async () => {
    const { name, taken } = await recording()
    const target = await recording()
    await node.holdfast.routes.create({ name: 'short-lived', eventType: 'leaving', endpoint: name })
    const ofThem = { ...range, correlationId: 'leaving' }
    await node.holdfast.publish('leaving', 1, { correlationId: 'leaving' })
    await until('delivered', () => taken.length === 1)
    await rig.whenSettled(name)
    await node.holdfast.routes.delete('short-lived')
    await rig.rows(`select holdfast.declare_job('tidy-up', '{}')`)
    await rig.rows(`select holdfast.enqueue('tidy-up', '{"secret": true}', '{"correlationId": "leaving"}')`)
    await rig.rows(
      `select holdfast_internal.fail_runs(array(select id from holdfast_internal.owed_runs), 'permanent', 'handler_error', 'no', 0)`,
    )
    expect(await node.holdfast.replays.preview(ofThem)).toMatchObject({ count: 0 })
    const toTarget = { ...ofThem, targetEndpoint: target.name }
    expect(await ended(await node.holdfast.replays.create(toTarget))).toMatchObject({ total: 1, done: 1 })
    await rig.whenSettled(target.name)
    expect(target.taken.map(({ payload }) => payload)).toEqual([1])
    expect((await node.holdfast.events.list({ eventType: 'tidy-up' })).data).toEqual([])
  })

  it('that fails becomes its own dead letter, and its redrive keeps the webhook-id of the replay', async () => {
    const seen: string[] = []
    let isBroken = false
    const name = await functionEndpoint(node.holdfast, ({ id }) => {
      seen.push(id)
      if (isBroken) throw new PermanentError('no')
    })
    const { id } = await node.holdfast.send(name, 1)
    await rig.whenSettled(name)
    isBroken = true
    await node.holdfast.replays.one(id)
    const { data } = await until(
      'a letter',
      () => node.holdfast.deadLetters.list({ endpoint: name }),
      ({ data }) => data.length === 1,
    )
    expect(data[0]).toMatchObject({ replayOf: id, messageId: seen[1] })
    isBroken = false
    await node.holdfast.deadLetters.redrive(data[0]!.id)
    await until('three tries', () => seen.length === 3)
    expect(seen[2]).toBe(seen[1])
    expect(seen[1]).not.toBe(seen[0])
    await rig.whenSettled(name)
  })

  it.each([
    ['no time', { endpoint: 'x' }],
    ['a state that is no end', { ...range, state: 'pending' }],
    ['a state and a target, but no endpoint', { ...range, state: 'dead', targetEndpoint: 'elsewhere' }],
    ['a route and an endpoint', { ...range, targetRoute: 'late-route', targetEndpoint: 'elsewhere' }],
    [
      "an endpoint's deliveries along a route",
      { ...range, targetRoute: 'late-route', endpoint: 'elsewhere' },
    ],
    ['an unknown field', { ...range, colour: 'red' }],
  ])('is refused for %s', async (_, input) => {
    await expect(node.holdfast.replays.create(input as never)).rejects.toMatchObject({
      code: 'invalid_filter',
    })
  })
})
