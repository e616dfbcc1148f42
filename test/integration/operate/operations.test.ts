import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/index.ts'
import { defineJob } from '../../../src/jobs/job.ts'
import type { FunctionEndpointInput } from '../../../src/transports/function/description.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

describe('a bulk action', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets, nodeName: 'worker-1' })
  })
  afterAll(() => rig.stop())

  /** An endpoint with `count` dead letters, whose receiver is mended afterwards. */
  async function withLetters(
    count: number,
    settings: Omit<FunctionEndpointInput, 'name' | 'transport'> = {},
  ) {
    const receiver = { isMended: false, taken: [] as number[] }
    const name = await functionEndpoint(
      node.holdfast,
      ({ payload }) => {
        if (!receiver.isMended) throw new PermanentError('bad deploy')
        receiver.taken.push(payload as number)
      },
      { circuit: { threshold: 1000 }, limits: { concurrency: 1 }, ...settings },
    )
    await sendAndBury(name, count)
    receiver.isMended = true
    return { name, receiver }
  }

  /** Twenty refusals in a row would pause the endpoint: letters are made by hand. */
  async function sendAndBury(name: string, count: number): Promise<void> {
    await rig.pause(node, name)
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: count }, (_, n) => ({ payload: n, type: n % 2 === 0 ? 'even' : 'odd' })),
    )
    await rig.rows(
      `with gone as (delete from holdfast_internal.deliveries where lane_id = $1 returning *)
       insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, status_code, error, criticality, priority, attempt, attempts)
       select nextval('holdfast_internal.ids'), id, message_id, lane_id, 'permanent', 3, 422, 'refused', criticality, priority, 1, '[]' from gone`,
      [await rig.laneId(name)],
    )
    await rig.rows(`select pg_notify('holdfast_lanes', $1 || ' recount')`, [await rig.laneId(name)])
    await node.holdfast.endpoints.resume(name)
  }

  const ended = (operation: Operation) =>
    until(
      `operation ${operation.id} to end`,
      () => node.holdfast.operations.get(operation.id),
      ({ state }) => state === 'succeeded' || state === 'failed',
    )

  const states = async (name: string) =>
    (await node.holdfast.deadLetters.summary()).find(({ endpoint }) => endpoint === name)

  it('redrives what its filter matches, in the original order, and reports its progress', async () => {
    const { name, receiver } = await withLetters(50)
    const filter = { endpoint: name, eventType: 'even' }
    const { count, asOf } = await node.holdfast.operations.preview({ kind: 'redrive', filter })
    expect(count).toBe(25)
    const operation = await node.holdfast.as('ada').operations.create({ kind: 'redrive', filter, asOf })
    expect(operation).toMatchObject({ kind: 'redrive', total: 25, createdBy: 'ada', filter })
    expect(await ended(operation)).toMatchObject({
      state: 'succeeded',
      done: 25,
      skipped: 0,
      node: 'worker-1',
      error: null,
    })
    await rig.whenSettled(name)
    expect(receiver.taken).toEqual(Array.from({ length: 25 }, (_, n) => n * 2))
    expect(await states(name)).toMatchObject({ dead: 25, redriven: 25 })
  })

  it('affects only what its preview counted, and reports what has changed since', async () => {
    const { name, receiver } = await withLetters(6)
    const { count, asOf } = await node.holdfast.operations.preview({
      kind: 'redrive',
      filter: { endpoint: name },
    })
    expect(count).toBe(6)
    await sendAndBury(name, 3)
    const { data } = await node.holdfast.deadLetters.list({ endpoint: name })
    const oldest = data.at(-1)!
    await node.holdfast.deadLetters.resolve(oldest.id)
    const filter = { endpoint: name }
    const late = await node.holdfast.operations.create({ kind: 'redrive', filter, asOf })
    expect(await ended(late)).toMatchObject({ total: 5, done: 5 })
    await rig.whenSettled(name)
    expect(receiver.taken).toEqual([1, 2, 3, 4, 5])
    expect(await states(name)).toMatchObject({ dead: 3, redriven: 5, resolved: 1 })
  })

  it('names the letters that it skipped, with what had happened to them', async () => {
    const { name } = await withLetters(6)
    const filter = { endpoint: name }
    const { asOf } = await node.holdfast.operations.preview({ kind: 'redrive', filter })
    const letters = (await node.holdfast.deadLetters.list({ endpoint: name })).data.map(({ id }) => id)
    const [resolved, discarded, redriven, ...left] = letters
    await node.holdfast.as('ada').deadLetters.resolve(resolved!, { note: 'refunded' })
    await node.holdfast.as('bob').deadLetters.discard(discarded!, { reason: 'a test' })
    await rig.pause(node, name)
    await node.holdfast.as('bob').deadLetters.redrive(redriven!)
    const operation = await node.holdfast.operations.create({ kind: 'redrive', filter, asOf })
    expect(await ended(operation)).toMatchObject({ done: left.length })
    const skipped = await node.holdfast.operations.skipped(operation.id)
    expect(skipped).toMatchObject({
      data: [
        { id: resolved, endpoint: name, why: 'resolved', by: 'ada', note: 'refunded' },
        { id: discarded, why: 'discarded', by: 'bob' },
        { id: redriven, why: 'redriven', by: 'bob', at: null },
      ],
      nextCursor: null,
    })
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    // What it did itself, and what became of that, is not skipped.
    expect((await node.holdfast.operations.skipped(operation.id)).data.map(({ id }) => id)).toEqual(
      skipped.data.map(({ id }) => id),
    )
    const page = await node.holdfast.operations.skipped(operation.id, { limit: 2 })
    const rest = await node.holdfast.operations.skipped(operation.id, { limit: 2, cursor: page.nextCursor! })
    expect([...page.data, ...rest.data].map(({ id }) => id)).toEqual([resolved, discarded, redriven])
  })

  it('that resolves letters names those that another person settled, and not its own', async () => {
    const { name } = await withLetters(4)
    const filter = { endpoint: name }
    const { asOf } = await node.holdfast.operations.preview({ kind: 'resolve', filter })
    const [first] = (await node.holdfast.deadLetters.list({ endpoint: name })).data
    await node.holdfast.as('ada').deadLetters.discard(first!.id, { reason: 'a test' })
    const operation = await node.holdfast
      .as('ada')
      .operations.create({ kind: 'resolve', filter, asOf, note: 'all' })
    await ended(operation)
    expect((await node.holdfast.operations.skipped(operation.id)).data).toMatchObject([
      { id: first!.id, why: 'discarded', by: 'ada' },
    ])
  })

  it('names a letter whose job was deleted, which can not be redriven', async () => {
    await node.holdfast.enqueue(defineJob({ name: 'short-lived' }), {})
    await rig.rows(
      `select holdfast_internal.fail_runs(array_agg(id), 'permanent', 'error', 'broken', 0) from holdfast_internal.owed_runs`,
    )
    await rig.rows(`delete from holdfast_internal.jobs where name = 'short-lived'`)
    const operation = await node.holdfast.operations.create({
      kind: 'redrive',
      filter: { job: 'short-lived' },
    })
    expect(await ended(operation)).toMatchObject({ done: 0, skipped: 1 })
    expect((await node.holdfast.operations.skipped(operation.id)).data).toMatchObject([
      { why: 'destination_deleted', state: 'open' },
    ])
  })

  it('started twice with the same filter delivers once, and the second reports what it skipped', async () => {
    const { name, receiver } = await withLetters(200)
    const client = rig.client()
    const [first, second] = await Promise.all([
      node.holdfast.operations.create({ kind: 'redrive', filter: { endpoint: name } }),
      client.operations.create({ kind: 'redrive', filter: { endpoint: name } }),
    ])
    const results = await Promise.all([ended(first), ended(second)])
    await rig.whenSettled(name)
    expect(receiver.taken).toEqual(Array.from({ length: 200 }, (_, n) => n))
    expect(results.reduce((sum, { done }) => sum + done, 0)).toBe(200)
    for (const { total, done, skipped } of results) expect(done + skipped).toBe(total)
  })

  it('leaves alone what was redriven and came back since', async () => {
    const { name, receiver } = await withLetters(2)
    const filter = { endpoint: name }
    const { asOf } = await node.holdfast.operations.preview({ kind: 'redrive', filter })
    receiver.isMended = false
    const { data } = await node.holdfast.deadLetters.list(filter)
    await node.holdfast.deadLetters.redrive(data[0]!.id)
    await until('the letter to be open again', async () => {
      const letter = await node.holdfast.deadLetters.get(data[0]!.id)
      return letter.state === 'open' && letter.redrives === 1
    })
    receiver.isMended = true
    expect(
      await ended(await node.holdfast.operations.create({ kind: 'redrive', filter, asOf })),
    ).toMatchObject({
      total: 1,
      done: 1,
    })
  })

  it('keeps to its rate, can be paused, resumed and cancelled, and what is done stays done', async () => {
    const { name, receiver } = await withLetters(100)
    const ratePerSecond = 5
    const startedMs = performance.now()
    const operation = await node.holdfast.operations.create({
      kind: 'redrive',
      filter: { endpoint: name },
      ratePerSecond,
    })
    await until('some to be taken', () => receiver.taken.length >= 5)
    const paused = await node.holdfast.operations.pause(operation.id)
    expect(paused.state).toBe('paused')
    const elapsedSeconds = (performance.now() - startedMs) / 1000
    expect(paused.done).toBeLessThanOrEqual(Math.ceil(elapsedSeconds + 1) * ratePerSecond)
    await rig.whenSettled(name)
    expect(receiver.taken).toHaveLength(paused.done)
    expect(await node.holdfast.operations.get(operation.id)).toMatchObject({ done: paused.done })
    await node.holdfast.operations.resume(operation.id)
    await until('more to be taken', () => receiver.taken.length > paused.done)
    const cancelled = await node.holdfast.operations.cancel(operation.id)
    expect(cancelled).toMatchObject({ state: 'cancelled', total: 100 })
    expect(cancelled.finishedAt).not.toBeNull()
    await rig.whenSettled(name)
    expect(receiver.taken).toHaveLength(cancelled.done)
    expect(await states(name)).toMatchObject({ dead: 100 - cancelled.done, redriven: cancelled.done })
    await expect(node.holdfast.operations.resume(operation.id)).rejects.toMatchObject({
      code: 'operation_ended',
    })
  })

  it('resolves and discards, with note, action and who', async () => {
    const { name } = await withLetters(4)
    await ended(
      await node.holdfast.as('ada').operations.create({
        kind: 'resolve',
        filter: { endpoint: name, eventType: 'even' },
        note: 'by hand',
        action: 'fixed',
      }),
    )
    await ended(
      await node.holdfast.operations.create({ kind: 'discard', filter: { endpoint: name }, reason: 'tests' }),
    )
    expect(await states(name)).toMatchObject({ dead: 0, resolved: 2, discarded: 2 })
    const { data } = await node.holdfast.deadLetters.list({ endpoint: name, state: 'resolved' })
    expect(data[0]).toMatchObject({ note: 'by hand', action: 'fixed', settledBy: 'ada' })
  })

  it('by ids affects only the given dead letters', async () => {
    const { name } = await withLetters(3)
    const { data } = await node.holdfast.deadLetters.list({ endpoint: name })
    const operation = await node.holdfast.operations.create({
      kind: 'discard',
      filter: { ids: [data[0]!.id, data[2]!.id] },
      reason: 'chosen',
    })
    expect(await ended(operation)).toMatchObject({ total: 2, done: 2 })
    expect((await node.holdfast.deadLetters.get(data[1]!.id)).state).toBe('open')
  })

  it('retries and cancels pending deliveries', async () => {
    const taken: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => void taken.push(payload), {
      limits: { concurrency: 1 },
    })
    const deliverAt = new Date(Date.now() + 3_600_000)
    await node.holdfast.sendBatch(
      name,
      [1, 2, 3, 4].map((n) => ({ payload: n, deliverAt, type: n <= 2 ? 'soon' : 'never' })),
    )
    await until(
      'the node to know of them',
      async () => (await node.holdfast.endpoints.health(name)).pending === 4,
    )
    const filter = { endpoint: name, eventType: 'soon' }
    expect(await ended(await node.holdfast.operations.create({ kind: 'retry', filter }))).toMatchObject({
      total: 2,
      done: 2,
    })
    await until('two to be taken', () => taken.length === 2)
    expect(taken).toEqual([1, 2])
    const cancel = await node.holdfast.operations.create({
      kind: 'cancel',
      filter: { endpoint: name, eventType: 'never' },
      reason: 'not any more',
    })
    expect(await ended(cancel)).toMatchObject({ total: 2, done: 2 })
    expect(await rig.owed(name)).toBe(0)
    const { data } = await node.holdfast.deliveries.list({ endpoint: name, state: 'cancelled' })
    expect(data.map(({ error }) => error)).toEqual(['not any more', 'not any more'])
    await until(
      'the node to count anew',
      async () => (await node.holdfast.endpoints.health(name)).pending === 0,
    )
  })

  it('can retry or cancel a single delivery', async () => {
    const taken: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => void taken.push(payload))
    const deliverAt = new Date(Date.now() + 3_600_000)
    const [first, second] = await node.holdfast.sendBatch(name, [
      { payload: 1, deliverAt },
      { payload: 2, deliverAt },
    ])
    await node.holdfast.deliveries.retry(first!.deliveryId)
    await until('the hurried one to be taken', () => taken.length === 1)
    expect(await node.holdfast.deliveries.cancel(second!.deliveryId, { reason: 'no' })).toMatchObject({
      state: 'cancelled',
      error: 'no',
    })
    await expect(node.holdfast.deliveries.retry(second!.deliveryId)).rejects.toMatchObject({
      code: 'delivery_settled',
    })
    await expect(node.holdfast.deliveries.cancel('dlv_00000000001')).rejects.toMatchObject({
      code: 'delivery_not_found',
    })
    expect(taken).toEqual([1])
  })

  it('cancels what its node has read already but not started', async () => {
    const taken: unknown[] = []
    let release = () => {}
    const isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    const name = await functionEndpoint(
      node.holdfast,
      async ({ payload }) => {
        taken.push(payload)
        await isReleased
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.sendBatch(
      name,
      [1, 2, 3].map((n) => ({ payload: n })),
    )
    await until('the first to be out', () => taken.length === 1)
    const pending = async () => (await node.holdfast.endpoints.health(name)).pending
    await until('the node to report all', pending, (count) => count === 3)
    const { data } = await node.holdfast.deliveries.list({ endpoint: name })
    await node.holdfast.deliveries.cancel(data[0]!.id)
    await node.holdfast.deliveries.cancel(data[1]!.id)
    await until('the node to count anew', pending, (count) => count === 1)
    release()
    await rig.whenSettled(name)
    await node.holdfast.send(name, 4)
    await rig.whenSettled(name)
    expect(taken).toEqual([1, 4])
  })

  it.each([
    ['no filter', { kind: 'redrive', filter: {} }],
    ['no filter but empty fields', { kind: 'cancel', filter: { endpoint: undefined } }],
    ['letters that are not open', { kind: 'redrive', filter: { state: 'resolved' } }],
    ['deliveries that are done', { kind: 'cancel', filter: { state: 'succeeded' } }],
    ['a moment that no preview gave', { kind: 'redrive', filter: { eventType: 'x' }, asOf: '1; drop table' }],
    ['a rate of nothing', { kind: 'redrive', filter: { eventType: 'x' }, ratePerSecond: 0 }],
    ['an unknown kind', { kind: 'destroy', filter: { eventType: 'x' } }],
    ['a field that it does not know', { kind: 'redrive', filter: { colour: 'red' } }],
  ])('is refused for %s', async (_, input) => {
    const before = await rig.count('operations')
    await expect(node.holdfast.operations.create(input as never)).rejects.toMatchObject({
      code: 'invalid_filter',
    })
    await expect(node.holdfast.operations.preview(input as never)).rejects.toMatchObject({
      code: 'invalid_filter',
    })
    expect(await rig.count('operations')).toBe(before)
  })

  it('on everything requires all: true', async () => {
    const { name } = await withLetters(2)
    const { count } = await node.holdfast.operations.preview({ kind: 'redrive', filter: {}, all: true })
    expect(count).toBe((await node.holdfast.deadLetters.summary()).reduce((sum, { dead }) => sum + dead, 0))
    const operation = await node.holdfast.operations.create({ kind: 'redrive', filter: {}, all: true })
    expect(await ended(operation)).toMatchObject({ total: count })
    await rig.whenSettled(name)
    expect(await states(name)).toMatchObject({ dead: 0, redriven: 2 })
  })

  it('retries a failed step, then fails with the error, and can be resumed', async () => {
    const { name } = await withLetters(3)
    const operation = await node.holdfast.operations.create({
      kind: 'resolve',
      filter: { endpoint: name },
      ratePerSecond: 0.01,
    })
    await until('the first step', async () => (await node.holdfast.operations.get(operation.id)).done === 1)
    await rig.rows(
      `update holdfast_internal.operations set filter = '{"endpoint": "nowhere"}' where kind = 'resolve' and state = 'running'`,
    )
    for (let failure = 1; failure <= 10; failure += 1) {
      await rig.rows(
        `update holdfast_internal.operations set next_step_at = now() where state = 'running'; select pg_notify('holdfast_operations', '')`,
      )
      await until(`failure ${failure}`, () =>
        rig.value<boolean>(
          `select failures = $1 from holdfast_internal.operations where id = holdfast.parse_id('op', $2)`,
          [failure, operation.id],
        ),
      )
    }
    expect(await node.holdfast.operations.get(operation.id)).toMatchObject({
      state: 'failed',
      done: 1,
      error: expect.stringContaining('nowhere'),
    })
    await rig.rows(
      `update holdfast_internal.operations set rate_per_second = null, filter = jsonb_build_object('endpoint', $2::text) where id = holdfast.parse_id('op', $1)`,
      [operation.id, name],
    )
    await node.holdfast.operations.resume(operation.id)
    expect(await ended(operation)).toMatchObject({ state: 'succeeded', done: 3, skipped: 0, error: null })
  })

  it('skips rows that another session has locked, and continues with them when they are free', async () => {
    const held = await withLetters(1)
    const free = await withLetters(1)
    const holder = await rig.database.pool.connect()
    try {
      await holder.query('begin')
      await holder.query('select from holdfast_internal.dead_letters where lane_id = $1 for update', [
        await rig.laneId(held.name),
      ])
      const waiting = await node.holdfast.operations.create({
        kind: 'redrive',
        filter: { endpoint: held.name },
      })
      const other = await node.holdfast.operations.create({
        kind: 'redrive',
        filter: { endpoint: free.name },
      })
      expect(await ended(other)).toMatchObject({ state: 'succeeded', done: 1 })
      const { error } = await until(
        'the other one to say why',
        () => node.holdfast.operations.get(waiting.id),
        (seen) => seen.error !== null,
      )
      expect(error).toContain('lock timeout')
      await holder.query('commit')
      expect(await ended(waiting)).toMatchObject({ state: 'succeeded', done: 1, error: null })
    } finally {
      holder.release(true)
    }
  })

  it('waits for room when the queue is full, and continues when there is some', async () => {
    const { name, receiver } = await withLetters(5)
    const other = await functionEndpoint(node.holdfast, () => {})
    await rig.pause(node, other)
    await node.holdfast.send(other, 1)
    await until('it to be reported', () =>
      rig.value<boolean>('select sum(pending) >= 1 from holdfast_internal.nodes'),
    )
    await rig.rows(`update holdfast_internal.settings set value = '1' where name = 'max_pending'`)
    const operation = await node.holdfast.operations.create({ kind: 'redrive', filter: { endpoint: name } })
    await until(
      'it to wait',
      () => node.holdfast.operations.get(operation.id),
      ({ waiting }) => waiting === 'The queue is full.',
    )
    await rig.rows(`update holdfast_internal.settings set value = '1000000' where name = 'max_pending'`)
    expect(await ended(operation)).toMatchObject({ done: 5, waiting: null })
    await rig.whenSettled(name)
    expect(receiver.taken).toEqual([0, 1, 2, 3, 4])
  })

  it('is listed, newest first', async () => {
    const all = await node.holdfast.operations.list({ limit: 3 })
    expect(all.data).toHaveLength(3)
    const next = await node.holdfast.operations.list({ limit: 3, cursor: all.nextCursor! })
    expect(next.data[0]!.id < all.data[2]!.id).toBe(true)
    const cancelled = await node.holdfast.operations.list({ state: 'cancelled' })
    expect(cancelled.data.every(({ state }) => state === 'cancelled')).toBe(true)
    await expect(node.holdfast.operations.get('op_00000000001')).rejects.toMatchObject({
      code: 'operation_not_found',
    })
  })
})
