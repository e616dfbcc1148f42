import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseId } from '../../../src/core/delivery/ids.ts'
import type { HandlerMessage } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

describe('sending', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
  })
  afterAll(() => rig.stop())

  const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ payload: index }))

  async function collecting(settings = {}) {
    const received: HandlerMessage[] = []
    const name = await functionEndpoint(node.holdfast, (message) => void received.push(message), settings)
    return { name, received }
  }

  it('delivers to a handler in this process, with everything that was said about the message', async () => {
    const { name, received } = await collecting()
    const sent = await node.holdfast.send(
      name,
      { order: 7, text: 'Grüße, 👩‍🚀\nnew line' },
      {
        type: 'order.created',
        correlationId: 'c-1',
        headers: { 'x-shop': 'north' },
        metadata: { a: [1] },
        priority: 2,
      },
    )
    await rig.whenSettled(name)
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({
      id: sent.id,
      deliveryId: sent.deliveryId,
      type: 'order.created',
      payload: { order: 7, text: 'Grüße, 👩‍🚀\nnew line' },
      correlationId: 'c-1',
      headers: { 'x-shop': 'north' },
      attempt: 1,
    })
    expect(
      await rig.rows('select outcome, attempt from holdfast_internal.attempts where delivery_id = $1', [
        parseId('dlv', sent.deliveryId),
      ]),
    ).toEqual([{ outcome: 1, attempt: 1 }])
  })

  it('delivers over HTTP, with the body as it was', async () => {
    await using receiver = await HttpReceiver.start()
    await node.holdfast.endpoints.create({ name: 'http-hook', config: { url: receiver.url } })
    const sent = await node.holdfast.sendBatch('http-hook', numbered(100))
    await rig.whenSettled('http-hook')
    const byId = receiver.ledger.byWebhookId()
    expect(
      sent.map(
        ({ id }, index) =>
          byId
            .get(id)
            ?.map(({ body }) => body)
            .join() === String(index),
      ),
    ).not.toContain(false)
    expect(receiver.ledger.duplicates()).toEqual([])
  })

  it('returns the ids of a batch in the order of its messages', async () => {
    const { name } = await collecting()
    await node.holdfast.endpoints.pause(name)
    for (const messages of [
      numbered(2000),
      numbered(2000).map((message) => ({ ...message, correlationId: 'c' })),
    ]) {
      const sent = await node.holdfast.sendBatch(name, messages)
      const rows = await rig.rows<{ id: number; body: number }>(
        'select id, body from holdfast_internal.messages where id = any ($1)',
        [sent.map(({ id }) => parseId('msg', id))],
      )
      const bodyById = new Map(rows.map((row) => [row.id, row.body]))
      expect(sent.map(({ id }) => bodyById.get(parseId('msg', id)!))).toEqual(
        messages.map(({ payload }) => payload),
      )
    }
  })

  it("in the caller's transaction stores nothing after a rollback, and delivers after a commit", async () => {
    const { name, received } = await collecting()
    const client = new Client({ connectionString: rig.database.url })
    await client.connect()
    try {
      await client.query('begin')
      await node.holdfast.send(name, 'lost', { client })
      await node.holdfast.sendBatch(name, numbered(10), { client })
      await client.query('rollback')
      await client.query('begin')
      await client.query('savepoint before')
      await node.holdfast.send(name, 'undone', { client })
      await client.query('rollback to savepoint before')
      await node.holdfast.send(name, 'kept', { client })
      expect(received).toEqual([])
      await client.query('commit')
      await node.log.waitForAttempts(name, 1)
      await rig.whenSettled(name)
    } finally {
      await client.end()
    }
    expect(received.map(({ payload }) => payload)).toEqual(['kept'])
  })

  it('in SQL works in any transaction', async () => {
    const { name, received } = await collecting()
    const client = await rig.database.pool.connect()
    await client.query('begin')
    const { rows } = await client.query<{ id: string }>(
      `select holdfast.send($1, '{"a": 1}', '{"orderingKey": "k", "headers": {"x-a": "b"}}') as id`,
      [name],
    )
    const batch = await client.query<{ id: string }>(
      `select holdfast.send_batch($1, array['1', '"two"', 'null']::jsonb[], '{"type": "t"}') as id`,
      [name],
    )
    await client.query('commit')
    client.release()
    await rig.whenSettled(name)
    expect(received).toHaveLength(4)
    expect(received.find(({ id }) => id === rows[0]!.id)).toMatchObject({
      payload: { a: 1 },
      headers: { 'x-a': 'b' },
    })
    expect(batch.rows.map(({ id }) => received.find((message) => message.id === id)?.payload)).toEqual([
      1,
      'two',
      null,
    ])
    await rig.rows('select holdfast.send($1, null)', [name])
    await rig.whenSettled(name)
    expect(received.at(-1)?.payload).toBeNull()
  })

  it('a batch of 12,000 stores all messages', async () => {
    const { name, received } = await collecting()
    await node.holdfast.sendBatch(name, numbered(12_000))
    await rig.whenSettled(name, 20_000)
    expect(new Set(received.map(({ payload }) => payload)).size).toBe(12_000)
    expect(received).toHaveLength(12_000)
  })

  it.each(['our own connection', 'a pool of the caller', 'a client of the caller outside a transaction'])(
    'a batch of 12,000 through %s stores nothing if one message is rejected',
    async (through) => {
      const { name } = await collecting()
      const messages = [...numbered(11_999), { payload: 'x'.repeat(1_100_000) }]
      const client = await rig.database.pool.connect()
      const options =
        through === 'our own connection'
          ? {}
          : { client: through === 'a pool of the caller' ? rig.database.pool : client }
      const before = await rig.count('messages')
      await expect(node.holdfast.sendBatch(name, messages, options)).rejects.toMatchObject({
        code: 'payload_too_large',
      })
      client.release()
      expect(await rig.count('messages')).toBe(before)
      expect(await rig.owed(name)).toBe(0)
    },
  )

  describe('with an idempotency key', () => {
    it('returns the first result for the same body, also written differently, and stores once', async () => {
      const { name, received } = await collecting()
      const first = await node.holdfast.send(name, { a: 1, b: 2 }, { idempotencyKey: 'key' })
      const again = await node.holdfast.send(name, { b: 2, a: 1 }, { idempotencyKey: 'key' })
      expect(again).toEqual(first)
      await rig.whenSettled(name)
      const afterwards = await node.holdfast.send(name, { a: 1, b: 2 }, { idempotencyKey: 'key' })
      expect(afterwards).toEqual(first)
      expect(received).toHaveLength(1)
      expect(await rig.owed(name)).toBe(0)
    })

    it('is a conflict with another body, and nothing is stored', async () => {
      const { name } = await collecting()
      await node.holdfast.send(name, 1, { idempotencyKey: 'key' })
      await rig.whenSettled(name)
      const before = await rig.count('messages')
      await expect(
        node.holdfast.sendBatch(name, [{ payload: 5 }, { payload: 2, idempotencyKey: 'key' }]),
      ).rejects.toMatchObject({ code: 'idempotency_conflict', status: 409 })
      expect(await rig.count('messages')).toBe(before)
      expect(await rig.owed(name)).toBe(0)
    })

    it('is good for one of a hundred senders at once', async () => {
      const { name, received } = await collecting()
      const results = await Promise.all(
        Array.from({ length: 100 }, () => node.holdfast.send(name, 'same', { idempotencyKey: 'race' })),
      )
      expect(new Set(results.map(({ id }) => id)).size).toBe(1)
      await rig.whenSettled(name)
      expect(received).toHaveLength(1)
    })

    it('waits for a transaction that used it and takes its place when that rolls back', async () => {
      const { name, received } = await collecting()
      const client = await rig.database.pool.connect()
      await client.query('begin')
      const rolledBack = await node.holdfast.send(name, 1, { idempotencyKey: 'open', client })
      const waiting = node.holdfast.send(name, 1, { idempotencyKey: 'open' })
      await client.query('rollback')
      client.release()
      const stored = await waiting
      expect(stored.id).not.toBe(rolledBack.id)
      await rig.whenSettled(name)
      expect(received.map(({ id }) => id)).toEqual([stored.id])
    })

    it('twice in one batch is one message', async () => {
      const { name } = await collecting()
      const sent = await node.holdfast.sendBatch(name, [
        { payload: 1, idempotencyKey: 'twin' },
        { payload: 1, idempotencyKey: 'twin' },
        { payload: 2 },
      ])
      expect(sent[0]).toEqual(sent[1])
      expect(sent[2]?.id).not.toBe(sent[0]?.id)
      await rig.whenSettled(name)
    })

    it('is free again after its window', async () => {
      const { name } = await collecting()
      const first = await node.holdfast.send(name, 1, { idempotencyKey: 'old' })
      await rig.rows(
        `update holdfast_internal.idempotency_keys set expires_at = now() - interval '1 second' where key = 'old'`,
      )
      const second = await node.holdfast.send(name, 2, { idempotencyKey: 'old' })
      expect(second.id).not.toBe(first.id)
    })

    it('that is purged while it is being checked is free', async () => {
      const { name } = await collecting()
      const first = await node.holdfast.send(name, 1, { idempotencyKey: 'raced' })
      await rig.rows(
        `update holdfast_internal.idempotency_keys set expires_at = now() + interval '1 minute' where key = 'raced'`,
      )
      // Stands for a purge that commits between the two statements of one look.
      await rig.rows(`
        create function purge_between() returns trigger language plpgsql as $$
        begin
          delete from holdfast_internal.idempotency_keys where key = 'raced' and expires_at < now() + interval '2 minutes';
          return null;
        end $$`)
      await rig.rows(
        'create trigger purge_between after insert on holdfast_internal.idempotency_keys for each statement execute function purge_between()',
      )
      try {
        const second = await node.holdfast.send(name, 2, { idempotencyKey: 'raced' })
        expect(second.id).not.toBe(first.id)
        expect((await node.holdfast.send(name, 2, { idempotencyKey: 'raced' })).id).toBe(second.id)
      } finally {
        await rig.rows('drop trigger purge_between on holdfast_internal.idempotency_keys')
      }
    })
  })
})
