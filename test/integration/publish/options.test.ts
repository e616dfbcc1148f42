import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { HandlerMessage } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { type Publish, waysIn } from './ways-in.ts'

/** SQLSTATE of an error from SQL, code of one from the SDK. */
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  )

describe.each(waysIn)('options on every way in: %s', (way, open) => {
  let rig: Rig
  let node: RunningNode
  let publish: Publish
  let endpoint: string
  const received: HandlerMessage[] = []

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { beatMs: 100, sweepMs: 100 } })
    endpoint = await functionEndpoint(node.holdfast, (message) => void received.push(message), {
      eventTypes: ['**'],
      limits: { concurrency: 1 },
    })
    publish = open(rig, node.holdfast)
  })
  beforeEach(() => {
    received.length = 0
  })
  afterAll(() => rig.stop())

  it('headers, correlationId, tenant and metadata arrive', async () => {
    await node.holdfast.endpoints.update(endpoint, { eventTypes: ['**'], tenant: 'acme' })
    await node.holdfast.routes.create({
      name: 'meta',
      eventType: 'meta.event',
      endpoint,
      tenant: 'acme',
      transform: {
        type: 'template',
        template: { tenant: '{{ $tenant }}', source: '{{ $metadata.source }}' },
      },
    })
    const id = await publish('meta.event', 1, {
      tenant: 'acme',
      headers: { 'x-region': 'eu' },
      correlationId: 'c-1',
      metadata: { source: 'shop' },
    })
    await until('two', () => received.length === 2)
    const shaped = received.find((message) => message.body !== '1')!
    expect(shaped.payload).toEqual({ tenant: 'acme', source: 'shop' })
    for (const message of received) {
      expect(message.id.replace(/\.1$/, '')).toBe(id)
      expect(message.headers['x-region']).toBe('eu')
      expect(message.correlationId).toBe('c-1')
      expect(message.type).toBe('meta.event')
    }
    await rig.whenSettled(endpoint)
    await node.holdfast.endpoints.update(endpoint, { tenant: null })
    await node.holdfast.routes.delete('meta')
  })

  it('priority: the more urgent ones go first', async () => {
    await rig.pause(node, endpoint)
    for (const [payload, priority] of [
      [1, 0],
      [2, 3],
      [3, 1],
    ] as const)
      await publish('urgent', payload, { priority })
    // What it hears of one after the other it would send so.
    const pending = async () => (await node.holdfast.endpoints.health(endpoint)).pending
    await until('the node to know of all', pending, (count) => count === 3)
    await node.holdfast.endpoints.resume(endpoint)
    await until('three', () => received.length === 3)
    expect(received.map(({ payload }) => payload)).toEqual([2, 3, 1])
  })

  it('orderingKey: one after the other, in the order of publishing, past a retry', async () => {
    let failures = 1
    const order: unknown[] = []
    const keyed = await functionEndpoint(
      node.holdfast,
      (message) => {
        order.push(message.payload)
        if (failures-- > 0) throw new Error('not yet')
      },
      { eventTypes: ['keyed'], retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' } },
    )
    for (const payload of [1, 2, 3]) await publish('keyed', payload, { orderingKey: 'k' })
    await rig.whenSettled(keyed)
    expect(order).toEqual([1, 1, 2, 3])
    await rig.whenSettled(endpoint)
  })

  it('deliverAt: not before', async () => {
    const atMs = Date.now() + 400
    const id = await publish('later', 'later', { deliverAt: new Date(atMs).toISOString() })
    await until('it', () => received.find((message) => message.id === id))
    expect(Date.now()).toBeGreaterThanOrEqual(atMs - 50)
  })

  it('expiresAt: ends as expired, visible', async () => {
    await rig.pause(node, endpoint)
    const id = await publish('short-lived', 1, { expiresAt: new Date(Date.now() + 150).toISOString() })
    const outcome = () =>
      rig.value<number | undefined>(
        `select outcome from holdfast_internal.attempts where message_id = holdfast.parse_id('msg', $1)`,
        [id],
      )
    expect(await until('the end', outcome)).toBe(10)
    await node.holdfast.endpoints.resume(endpoint)
    expect(received).toEqual([])
  })

  it('idempotencyKey: the same event is the same message, another is a conflict, and tenants and types are apart', async () => {
    const conflict = way.startsWith('SDK') ? 'idempotency_conflict' : 'HF004'
    const first = await publish('once', { a: 1, b: 2 }, { idempotencyKey: 'k' })
    expect(await publish('once', { b: 2, a: 1 }, { idempotencyKey: 'k' })).toBe(first)
    expect(await codeOf(publish('once', { a: 2 }, { idempotencyKey: 'k' }))).toBe(conflict)
    expect(await codeOf(publish('twice', { a: 1, b: 2 }, { idempotencyKey: 'k' }))).toBe(conflict)
    // The type and the body are told apart where they meet.
    await publish('t1', 2, { idempotencyKey: 'boundary' })
    expect(await codeOf(publish('t', 12, { idempotencyKey: 'boundary' }))).toBe(conflict)
    expect(await publish('once', { a: 1, b: 2 }, { idempotencyKey: 'k', tenant: 'acme' })).not.toBe(first)
    await rig.rows(`update holdfast_internal.idempotency_keys set expires_at = now() - interval '1 second'`)
    expect(await publish('once', { a: 1, b: 2 }, { idempotencyKey: 'k' })).not.toBe(first)
    await rig.whenSettled(endpoint)
    expect(new Set(received.map(({ deliveryId }) => deliveryId)).size).toBe(received.length)
  })

  it('idempotencyKey: of many at once, one is stored and all get its id', async () => {
    const before = await rig.count('messages')
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => publish('race', 1, { idempotencyKey: 'race' })),
    )
    expect(new Set(ids).size).toBe(1)
    expect(await rig.count('messages')).toBe(before + 1)
    await rig.whenSettled(endpoint)
  })

  it('idempotencyKey: a publisher that waits for one that rolls back gets the key', async () => {
    const client = await rig.database.pool.connect()
    await client.query('begin')
    await client.query(`select holdfast.publish('rolled', '1', '{"idempotencyKey": "rolled"}')`)
    const waiting = publish('rolled', 2, { idempotencyKey: 'rolled' })
    await until('the wait', () =>
      rig.value<boolean>(
        `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`,
      ),
    )
    await client.query('rollback')
    client.release()
    const id = await waiting
    expect(
      await rig.value(
        `select body::text from holdfast_internal.messages where id = holdfast.parse_id('msg', $1)`,
        [id],
      ),
    ).toBe('2')
  })
})

describe('a repeated idempotency key', () => {
  let rig: Rig
  let holdfast: Holdfast
  beforeAll(async () => {
    rig = await Rig.create()
    holdfast = rig.client()
  })
  afterAll(() => rig.stop())

  it('returns the first result, whatever the routes are by now', async () => {
    await holdfast.endpoints.create({ name: 'one', transport: 'function', eventTypes: ['a'] })
    await holdfast.endpoints.pause('one')
    const first = await holdfast.publish('a', 1, { idempotencyKey: 'k' })
    expect(first).toMatchObject({ deliveries: 1, held: 1 })
    await holdfast.endpoints.create({ name: 'two', transport: 'function', eventTypes: ['a'] })
    await holdfast.endpoints.resume('one')
    expect(await holdfast.publish('a', 1, { idempotencyKey: 'k' })).toEqual(first)
    expect(await rig.count('deliveries')).toBe(1)
  })

  it('inside one batch is one message', async () => {
    const [one, two, other] = await holdfast.publishBatch([
      { type: 'a', payload: 1, idempotencyKey: 'batch' },
      { type: 'a', payload: 1, idempotencyKey: 'batch' },
      { type: 'a', payload: 1 },
    ])
    expect(one).toEqual(two)
    expect(other!.id).not.toBe(one!.id)
    expect(other).toMatchObject({ deliveries: 2 })
  })

  it('inside one batch is one message in other words too, and a conflict with another type', async () => {
    const publishBoth = (key: string, first: object, second: object, secondType = 'a') =>
      holdfast.publishBatch([
        { type: 'a', payload: first, idempotencyKey: key },
        { type: secondType, payload: second, idempotencyKey: key },
      ])
    const [one, two] = await publishBoth('reordered', { x: 1, y: [1, 2] }, { y: [1, 2], x: 1 })
    expect(one).toEqual(two)
    // Neither of the two texts is the one that was stored.
    expect(await holdfast.publish('a', { x: 1, y: [1.0, 2] }, { idempotencyKey: 'reordered' })).toEqual(one)
    await expect(publishBoth('types', { x: 1 }, { x: 1 }, 'b')).rejects.toMatchObject({
      code: 'idempotency_conflict',
    })
    await expect(publishBoth('order', { y: [1, 2] }, { y: [2, 1] })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    })
  })

  it('is recognised after its message was erased, and conflicts with a different body', async () => {
    const { id } = await holdfast.publish('erased.once', { secret: 1 }, { idempotencyKey: 'erased' })
    await holdfast.events.erase(id, { reason: 'asked for', force: true })
    expect(await holdfast.publish('erased.once', { secret: 1 }, { idempotencyKey: 'erased' })).toMatchObject({
      id,
    })
    await expect(
      holdfast.publish('erased.once', { secret: 2 }, { idempotencyKey: 'erased' }),
    ).rejects.toMatchObject({ code: 'idempotency_conflict' })
  })

  it('is told apart from new and expired ones of the same batch, whichever way it is stored', async () => {
    const ways = {
      publishBatch: async (keys: readonly (string | null)[]) =>
        holdfast.publishBatch(
          keys.map((key) => ({ type: 'mixed', payload: key, ...(key !== null && { idempotencyKey: key }) })),
        ),
      sendBatch: async (keys: readonly (string | null)[]) =>
        holdfast.sendBatch(
          'one',
          keys.map((key) => ({ payload: key, ...(key !== null && { idempotencyKey: key }) })),
        ),
    }
    for (const [way, store] of Object.entries(ways)) {
      const [known, expired] = await store([`${way}-known`, `${way}-expired`])
      await rig.rows(
        `update holdfast_internal.idempotency_keys set expires_at = now() - interval '1 second' where key = $1`,
        [`${way}-expired`],
      )
      const before = await rig.count('messages')
      const ids = (await store([`${way}-new`, `${way}-known`, null, `${way}-expired`, `${way}-new`])).map(
        ({ id }) => id,
      )
      expect(ids[1]).toBe(known?.id)
      expect(ids[3]).not.toBe(expired?.id)
      expect(ids[4]).toBe(ids[0])
      expect(new Set(ids).size).toBe(4)
      expect(await rig.count('messages')).toBe(before + 3)
      // All of them are known now.
      expect((await store([`${way}-expired`, `${way}-new`])).map(({ id }) => id)).toEqual([ids[3], ids[0]])
    }
  })

  it('rejects the whole batch if its body differs', async () => {
    await holdfast.publishBatch([{ type: 'a', payload: 1, idempotencyKey: 'refused' }])
    const before = await rig.count('messages')
    const batch = [
      { type: 'a', payload: 5, idempotencyKey: 'refused-new' },
      { type: 'a', payload: 2, idempotencyKey: 'refused' },
    ]
    await expect(holdfast.publishBatch(batch)).rejects.toMatchObject({ code: 'idempotency_conflict' })
    expect(await rig.count('messages')).toBe(before)
    await holdfast.publishBatch(batch.slice(0, 1))
    expect(await rig.count('messages')).toBe(before + 1)
  })
})

describe('a batch', () => {
  it('with one ordering key keeps its order through fan-out', async () => {
    const rig = await Rig.create()
    try {
      const node = await rig.start({ limits: { beatMs: 100 } })
      const order: Record<string, unknown[]> = {}
      const names: string[] = []
      for (let each = 0; each < 3; each += 1) {
        const name: string = await functionEndpoint(
          node.holdfast,
          (message) => void (order[name] ??= []).push(message.payload),
          { eventTypes: ['**'] },
        )
        names.push(name)
      }
      const payloads = Array.from({ length: 30 }, (_, index) => index)
      await node.holdfast.publishBatch(payloads.map((payload) => ({ type: 'a', payload, orderingKey: 'k' })))
      for (const name of names) {
        await rig.whenSettled(name)
        expect(order[name]).toEqual(payloads)
      }
      expect(await rig.count('messages')).toBe(30)
    } finally {
      await rig.stop()
    }
  })
})
