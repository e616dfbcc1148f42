import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { HoldfastError } from '../../../src/core/errors.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { refusedUrl } from '../../support/receivers/dead-addresses.ts'
import { waysIn } from './ways-in.ts'

let rig: Rig
let holdfast: Holdfast

beforeAll(async () => {
  rig = await Rig.create()
  holdfast = rig.client()
})
afterAll(() => rig.stop())

const stored = () =>
  rig.value<string>(
    `select jsonb_build_array((select count(*) from holdfast_internal.messages), (select count(*) from holdfast_internal.deliveries),
       (select count(*) from holdfast_internal.dead_letters), (select count(*) from holdfast_internal.idempotency_keys))::text`,
  )
const report = async (endpoint: string, pending: number) =>
  rig.rows(
    `insert into holdfast_internal.lane_stats (lane_id, pending) values ($1, $2) on conflict (lane_id) do update set pending = excluded.pending`,
    [await rig.laneId(endpoint), pending],
  )

describe('the global bound', () => {
  beforeEach(async () => {
    for (const name of ['one', 'two', 'three']) {
      await holdfast.endpoints.create({ name, transport: 'function', eventTypes: ['fanned'] })
    }
    await rig.rows(`update holdfast_internal.settings set value = '100' where name = 'max_pending'`)
    // What a node reports of everything that it owes.
    await rig.rows(
      `insert into holdfast_internal.nodes (incarnation, name, version, pending) values (1000, 'reporter', '0', 90)`,
    )
  })
  afterEach(async () => {
    await rig.rows(`update holdfast_internal.settings set value = '1000000' where name = 'max_pending'`)
    await rig.rows(`delete from holdfast_internal.nodes`)
    for (const name of ['one', 'two', 'three']) await holdfast.endpoints.delete(name, { force: true })
  })

  it('counts the projected fan-out of the whole batch before anything is stored', async () => {
    const before = await stored()
    const four = Array.from({ length: 4 }, (_, index) => ({
      type: 'fanned',
      payload: index,
      idempotencyKey: `k${index}`,
    }))
    const error = await holdfast.publishBatch(four).catch((reason: HoldfastError) => reason)
    expect(error).toMatchObject({ code: 'queue_full', status: 429, isRetryable: true })
    expect((error as Error).message).toMatch(/12 more would exceed the limit of 100/)
    expect(
      await rig
        .rows(`select holdfast.publish_batch($1)`, [JSON.stringify(four)])
        .catch((reason: { code: string }) => reason.code),
    ).toBe('53400')
    expect(await stored()).toBe(before)
    await holdfast.publishBatch(four.slice(0, 3))
    expect(await rig.count('deliveries')).toBe(9)
  })

  it('holds for a batch of any size', async () => {
    const before = await stored()
    await rig.rows(`update holdfast_internal.settings set value = '15000' where name = 'max_pending'`)
    const many = Array.from({ length: 5001 }, (_, index) => ({ type: 'fanned', payload: index }))
    await expect(holdfast.publishBatch(many)).rejects.toMatchObject({ code: 'queue_full' })
    expect(await stored()).toBe(before)
  })

  it('accepts events without a route, and is off at 0', async () => {
    await rig.rows('update holdfast_internal.nodes set pending = 100')
    expect(await holdfast.publish('nobody.wants', 1)).toMatchObject({ deliveries: 0 })
    await rig.rows(`update holdfast_internal.settings set value = '0' where name = 'max_pending'`)
    expect(await holdfast.publish('fanned', 1)).toMatchObject({ deliveries: 3 })
  })
})

describe('the bound of an endpoint', () => {
  it.each(waysIn)('makes a dead letter of its own delivery, and the others go on: %s', async (way, open) => {
    const slug = way.toLowerCase().replaceAll(/[ _]/g, '-')
    const type = `${slug}.full`
    const limits = { maxPending: 10 }
    await holdfast.endpoints.create({
      name: `${slug}-full`,
      transport: 'function',
      eventTypes: [type],
      limits,
    })
    await holdfast.endpoints.create({
      name: `${slug}-free`,
      transport: 'function',
      eventTypes: [type],
      limits,
    })
    await report(`${slug}-full`, 10)
    const id = await open(rig, holdfast)(
      type,
      { n: 1 },
      { orderingKey: 'k', priority: 2, criticality: 'critical' },
    )
    expect(await rig.owed(`${slug}-full`)).toBe(0)
    expect(await rig.owed(`${slug}-free`)).toBe(1)
    expect(
      await rig.rows(
        `select reason, error_code, criticality, priority, ordering_key, attempt, holdfast.format_id('msg', message_id) as message
         from holdfast_internal.dead_letters where lane_id = $1`,
        [await rig.laneId(`${slug}-full`)],
      ),
    ).toEqual([
      {
        reason: 'endpoint_full',
        error_code: 'endpoint_full',
        criticality: 2,
        priority: 2,
        ordering_key: 'k',
        attempt: 0,
        message: id,
      },
    ])
  })

  it('keeps what still fits of a batch, and says how many wait', async () => {
    await holdfast.endpoints.create({
      name: 'partly',
      transport: 'function',
      eventTypes: ['partly'],
      limits: { maxPending: 10 },
    })
    await holdfast.endpoints.pause('partly')
    await report('partly', 7)
    const published = await holdfast.publishBatch(
      Array.from({ length: 5 }, (_, index) => ({ type: 'partly', payload: index })),
    )
    expect(published.map(({ deliveries, held }) => [deliveries, held])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 0],
      [1, 0],
    ])
    expect(await rig.owed('partly')).toBe(3)
    const bodies = await rig.rows(
      `select body::text from holdfast_internal.dead_letters join holdfast_internal.messages as message on message.id = message_id where lane_id = $1 order by message.id`,
      [await rig.laneId('partly')],
    )
    expect(bodies).toEqual([{ body: '3' }, { body: '4' }])
  })

  it.each<[string, (name: string) => Promise<unknown>]>([
    [
      'SDK',
      (name) =>
        holdfast.sendBatch(
          name,
          [0, 1, 2, 3, 4].map((payload) => ({ payload })),
        ),
    ],
    [
      'SDK, with options',
      (name) =>
        holdfast.sendBatch(
          name,
          [0, 1, 2, 3, 4].map((payload) => ({ payload, orderingKey: 'k', priority: 1 })),
        ),
    ],
    [
      'SQL',
      (name) => rig.rows(`select holdfast.send_batch($1, array['0', '1', '2', '3', '4']::jsonb[])`, [name]),
    ],
  ])('keeps what still fits of a batch that was sent straight to it: %s', async (way, send) => {
    const name = `straight-${way.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
    await holdfast.endpoints.create({ name, transport: 'function', limits: { maxPending: 10 } })
    await report(name, 7)
    await send(name)
    const bodies = (table: string) =>
      rig.value(
        `select string_agg(body::text, ' ' order by message.id) from holdfast_internal.${table} join holdfast_internal.messages as message on message.id = message_id
         where lane_id = (select id from holdfast_internal.endpoints where name = $1)`,
        [name],
      )
    expect(await bodies('deliveries')).toBe('0 1 2')
    expect(await bodies('dead_letters')).toBe('3 4')
  })

  it('counts nothing twice: what was sent before takes no room of the batch', async () => {
    await holdfast.endpoints.create({ name: 'repeated', transport: 'function', limits: { maxPending: 10 } })
    const messages = [0, 1, 2, 3].map((payload) => ({ payload, idempotencyKey: `k${payload}` }))
    const first = await holdfast.sendBatch('repeated', messages.slice(0, 2))
    await report('repeated', 8)
    const second = await holdfast.sendBatch('repeated', messages)
    expect(second.slice(0, 2)).toEqual(first)
    expect(await rig.owed('repeated')).toBe(4)
  })

  it('set to reject rejects the whole event', async () => {
    await holdfast.endpoints.create({
      name: 'strict',
      transport: 'function',
      eventTypes: ['strict'],
      limits: { maxPending: 10, onFull: 'reject' },
    })
    await holdfast.endpoints.create({ name: 'lenient', transport: 'function', eventTypes: ['strict'] })
    await report('strict', 10)
    const before = await stored()
    const error = await holdfast.publish('strict', 1).catch((reason: HoldfastError) => reason)
    expect(error).toMatchObject({ code: 'queue_full', message: expect.stringMatching(/"strict" is full/) })
    expect(
      await rig
        .rows(`select holdfast.publish('strict', '1')`)
        .catch((reason: { code: string }) => reason.code),
    ).toBe('53400')
    expect(await stored()).toBe(before)
  })
})

describe('one dead endpoint', () => {
  it('never stops a publisher: its deliveries become dead letters, and everybody else gets theirs', async () => {
    const own = await Rig.create()
    try {
      const node = await own.start({ limits: { beatMs: 50 } })
      await node.holdfast.endpoints.create({
        name: 'dead',
        config: { url: await refusedUrl() },
        eventTypes: ['**'],
        limits: { maxPending: 50 },
        circuit: { threshold: 1, cooldownMs: 60_000 },
      })
      const received = new Set<unknown>()
      const alive = await functionEndpoint(node.holdfast, (message) => void received.add(message.payload), {
        eventTypes: ['**'],
      })
      let published = 0
      // Until long after it is full: no publish may fail.
      const letters = () => own.count('dead_letters')
      while ((await letters()) < 40) {
        for (let each = 0; each < 20; each += 1) {
          await node.holdfast.publish('order.created', published)
          published += 1
        }
        if (published > 5000) throw new Error('the bound never showed')
      }
      await own.whenSettled(alive)
      await until('the last one', () => received.size === published)
      expect(
        await own.value(`select count(distinct reason) || min(reason) from holdfast_internal.dead_letters`),
      ).toBe('1endpoint_full')
      expect((await own.owed('dead')) + (await letters())).toBe(published)
    } finally {
      await own.stop()
    }
  })
})

describe('an endpoint that does not deliver now', () => {
  it.each(['paused', 'disabled', 'rejecting'])(
    'keeps its events, and publishing says so: %s',
    async (state) => {
      const own = await Rig.create()
      try {
        const node = await own.start({ limits: { beatMs: 50 } })
        const received: unknown[] = []
        const name = await functionEndpoint(node.holdfast, (message) => void received.push(message.payload), {
          eventTypes: ['**'],
        })
        const other = await functionEndpoint(node.holdfast, () => undefined, { eventTypes: ['**'] })
        if (state === 'paused') await node.holdfast.endpoints.pause(name)
        else if (state === 'disabled') await node.holdfast.endpoints.disable(name)
        else
          await own.rows(
            `with changed as (update holdfast_internal.endpoints set state = 'rejecting' where name = $1 returning id)
             select holdfast_internal.tell_nodes('holdfast_lanes', id::text) from changed`,
            [name],
          )
        await own.heard(node)
        expect(await node.holdfast.publish('a', 1)).toMatchObject({ deliveries: 2, held: 1 })
        await own.rows(`select holdfast.publish('a', '2')`)
        await own.whenSettled(other)
        expect(await own.owed(name)).toBe(2)
        expect(received).toEqual([])
        await node.holdfast.endpoints.resume(name)
        await own.whenSettled(name)
        expect(received).toEqual([1, 2])
        expect(await node.holdfast.publish('a', 3)).toMatchObject({ deliveries: 2, held: 0 })
      } finally {
        await own.stop()
      }
    },
  )
})
