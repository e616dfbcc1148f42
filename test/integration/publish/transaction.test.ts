import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'
import { waysIn } from './ways-in.ts'

describe('publishing in the caller’s transaction', () => {
  let rig: Rig
  let node: RunningNode
  let endpoint: string
  const received: unknown[] = []

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { beatMs: 100 } })
    endpoint = await functionEndpoint(node.holdfast, (message) => void received.push(message.payload), {
      eventTypes: ['order.*'],
    })
  })
  afterAll(() => rig.stop())

  /** Everything that a rolled-back publish could have left behind. */
  const traces = () =>
    rig.value<string>(
      `select jsonb_build_array(
         (select count(*) from holdfast_internal.messages), (select count(*) from holdfast_internal.deliveries), (select count(*) from holdfast_internal.attempts),
         (select count(*) from holdfast_internal.dead_letters), (select count(*) from holdfast_internal.idempotency_keys))::text`,
    )

  const ways: [string, (client: PoolClient, payload: unknown) => Promise<unknown>][] = [
    [
      'SDK publish',
      (client, payload) =>
        node.holdfast.publish('order.created', payload, { client, idempotencyKey: `k-${String(payload)}` }),
    ],
    [
      'SDK publishBatch',
      (client, payload) => node.holdfast.publishBatch([{ type: 'order.created', payload }], { client }),
    ],
    [
      'psql publish',
      (client, payload) =>
        client.query(`select holdfast.publish('order.created', '${JSON.stringify(payload)}')`),
    ],
    [
      'psql publish_batch',
      (client, payload) =>
        client.query(
          `select holdfast.publish_batch('[{"type": "order.created", "payload": ${JSON.stringify(payload)}, "priority": 1}]')`,
        ),
    ],
  ]

  it.each(ways)('%s: a commit delivers, a rollback leaves no trace', async (name, publish) => {
    const client = await rig.database.pool.connect()
    try {
      const before = await traces()
      await client.query('begin')
      await publish(client, `${name} rolled back`)
      await client.query('rollback')
      expect(await traces()).toBe(before)
      await client.query('begin')
      await publish(client, `${name} committed`)
      expect(received).not.toContain(`${name} committed`)
      await client.query('commit')
      await until('the delivery', () => received.includes(`${name} committed`))
      await rig.whenSettled(endpoint)
      expect(received).not.toContain(`${name} rolled back`)
    } finally {
      client.release()
    }
  })

  it('stores a batch of a caller that is in no transaction whole or not at all', async () => {
    const client = await rig.database.pool.connect()
    const events = Array.from({ length: 2500 }, (_, index) => ({
      type: 'bulk.event',
      payload: index,
      // The last one conflicts with the first.
      ...((index === 0 || index === 2499) && { idempotencyKey: 'bulk' }),
    }))
    const before = await traces()
    try {
      await expect(node.holdfast.publishBatch(events, { client })).rejects.toMatchObject({
        code: 'idempotency_conflict',
      })
    } finally {
      client.release()
    }
    expect(await traces()).toBe(before)
  })

  it('publishes nothing for an empty batch', async () => {
    expect(await node.holdfast.publishBatch([])).toEqual([])
    expect(await rig.rows(`select holdfast.publish_batch('[]')`)).toEqual([])
  })
})

describe('a schema', () => {
  let rig: Rig
  let node: RunningNode

  const schema = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer' }, at: { type: 'string', format: 'date-time' } },
  }

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { beatMs: 100 } })
    await node.holdfast.eventTypes.put({ name: 'order.created', schema })
  })
  afterAll(() => rig.stop())

  it('is checked also when a publisher has used more types than a client remembers', {
    timeout: 60_000,
  }, async () => {
    const holdfast = rig.client()
    await holdfast.eventTypes.create({ name: 'remembered', schema: { required: ['id'] } })
    await holdfast.publish('remembered', { id: 1 })
    for (let first = 0; first < 10_000; first += 1000) {
      const events = Array.from({ length: 1000 }, (_, n) => ({ type: `many.t${first + n}`, payload: {} }))
      await holdfast.publishBatch(events)
    }
    const bad = [
      { type: 'remembered', payload: {} },
      { type: 'many.another', payload: {} },
    ]
    await expect(holdfast.publishBatch(bad)).rejects.toMatchObject({ code: 'schema_violation' })
  })

  it('makes the SDK refuse the payload with every failing path, and store nothing of the batch', async () => {
    const before = await rig.count('messages')
    const batch = node.holdfast.publishBatch([
      { type: 'order.created', payload: { id: 1 } },
      { type: 'order.created', payload: { id: 'one', at: 'noon' } },
    ])
    const error = await batch.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'schema_violation', status: 422, details: { index: 1 } })
    const { problems } = (error as { details: { problems: { path: string }[] } }).details
    expect(problems.map(({ path }) => path).sort()).toEqual(['at', 'id'])
    expect((error as Error).message).toMatch(/event 2.*order\.created/)
    expect(await rig.count('messages')).toBe(before)
  })

  it('is held against what is stored: a Date is the text that it becomes', async () => {
    await expect(
      node.holdfast.publish('order.created', { id: 2, at: new Date(), note: undefined }),
    ).resolves.toMatchObject({ deliveries: 0 })
  })

  it.each(['function', 'http'] as const)(
    'lets SQL publish, and makes a dead letter at the first attempt (%s)',
    async (transport) => {
      await using receiver = await HttpReceiver.start()
      const handled: unknown[] = []
      const type = `checked.${transport}`
      await node.holdfast.eventTypes.put({ name: type, schema })
      const name = `schema-${transport}`
      node.holdfast.handle(name, (message) => void handled.push(message.payload))
      await node.holdfast.endpoints.create({
        name,
        eventTypes: [type],
        ...(transport === 'http' ? { transport, config: { url: receiver.url } } : { transport, config: {} }),
      })
      await rig.rows(
        `select holdfast.publish('${type}', '{"id": "x"}'), holdfast.publish('${type}', '{"id": 7}')`,
      )
      await rig.whenSettled(name)
      const letters = await rig.rows(
        `select reason, attempt, error_code, error from holdfast_internal.dead_letters where lane_id = $1`,
        [await rig.laneId(name)],
      )
      expect(letters).toEqual([
        {
          reason: 'schema',
          attempt: 1,
          error_code: 'schema',
          error: expect.stringMatching(/id: must be integer/),
        },
      ])
      const sent =
        transport === 'http'
          ? receiver.ledger.requests.map(({ body }) => JSON.parse(body) as unknown)
          : handled
      expect(sent).toEqual([{ id: 7 }])
    },
  )

  it('that is unusable fails only its own event, and the node continues', async () => {
    const handled: unknown[] = []
    const name = await functionEndpoint(node.holdfast, (message) => void handled.push(message.payload), {
      eventTypes: ['odd.*'],
    })
    await rig.rows(
      `insert into holdfast_internal.event_types (name, schema) values ('odd.schema', '{"type": "strng"}')`,
    )
    await rig.rows(`select holdfast.publish('odd.schema', '1'), holdfast.publish('odd.none', '2')`)
    await rig.whenSettled(name)
    expect(handled).toEqual([2])
    expect(
      await rig.value('select reason from holdfast_internal.dead_letters where lane_id = $1', [
        await rig.laneId(name),
      ]),
    ).toBe('schema')
  })

  it('that was deleted is no longer checked, also where it was cached', async () => {
    const handled: unknown[] = []
    const name = await functionEndpoint(node.holdfast, (message) => void handled.push(message.payload), {
      eventTypes: ['fleeting'],
    })
    await node.holdfast.eventTypes.put({ name: 'fleeting', schema: { type: 'string' } })
    await rig.rows(`select holdfast.publish('fleeting', '"a text"')`)
    await rig.whenSettled(name)
    await rig.pause(node, name)
    await rig.rows(`select holdfast.publish('fleeting', '7')`)
    await node.holdfast.eventTypes.delete('fleeting')
    const beat = () => rig.value<number>('select max(beat) from holdfast_internal.nodes')
    const before = await beat()
    await until('some beats', async () => (await beat()) > before + 3)
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(handled).toEqual(['a text', 7])
  })

  it('that changed is used by the next publish of the same process', async () => {
    await node.holdfast.eventTypes.put({ name: 'moving.type', schema: { type: 'string' } })
    await expect(node.holdfast.publish('moving.type', 1)).rejects.toMatchObject({ code: 'schema_violation' })
    await node.holdfast.eventTypes.put({ name: 'moving.type', schema: { type: 'integer' } })
    await node.holdfast.publish('moving.type', 1)
    await node.holdfast.eventTypes.delete('moving.type')
    await node.holdfast.publish('moving.type', 'anything')
  })
})

describe('criticality', () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await Rig.create()
  })
  afterAll(() => rig.stop())

  it.each(waysIn)('is the message’s, else the route’s, else the event type’s: %s', async (way, open) => {
    const holdfast = rig.client()
    const publish = open(rig, holdfast)
    const slug = way.toLowerCase().replaceAll(/[ _]/g, '-')
    const [plain, chosen] = [`${slug}-plain`, `${slug}-chosen`]
    const type = `${slug}.event`
    await holdfast.eventTypes.put({ name: type, criticality: 'critical' })
    for (const name of [plain, chosen]) await holdfast.endpoints.create({ name, transport: 'function' })
    await holdfast.routes.create({ name: plain, eventType: type, endpoint: plain })
    await holdfast.routes.create({
      name: chosen,
      eventType: type,
      endpoint: chosen,
      criticality: 'best_effort',
    })
    const criticalities = async (id: string) =>
      rig.rows<{ criticality: number }>(
        `select criticality from holdfast_internal.deliveries where message_id = holdfast.parse_id('msg', $1) order by lane_id`,
        [id],
      )
    expect(await criticalities(await publish(type, 1))).toEqual([{ criticality: 2 }, { criticality: 0 }])
    expect(await criticalities(await publish(type, 1, { criticality: 'standard' }))).toEqual([
      { criticality: 1 },
      { criticality: 1 },
    ])
  })

  it('of two routes to one endpoint with one transform is the higher one', async () => {
    const holdfast = rig.client()
    await holdfast.endpoints.create({ name: 'shared', transport: 'function' })
    await holdfast.routes.create({
      name: 'low',
      eventType: 'both',
      endpoint: 'shared',
      criticality: 'best_effort',
    })
    await holdfast.routes.create({
      name: 'high',
      eventType: 'both',
      endpoint: 'shared',
      criticality: 'critical',
    })
    const { deliveries } = await holdfast.publish('both', 1)
    expect(deliveries).toBe(1)
    expect(
      await rig.value(
        `select criticality from holdfast_internal.deliveries where lane_id = ${await rig.laneId('shared')}`,
      ),
    ).toBe(2)
  })
})
