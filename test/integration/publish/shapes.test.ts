import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HandlerMessage } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer, script } from '../../support/receivers/behaviours.ts'
import { Gate } from '../../support/receivers/gate.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

const quickRetry = { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' } as const

let rig: Rig
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start({ limits: { beatMs: 100 } })
})
afterAll(() => rig.stop())

/** Long enough that the node has heard of what was changed before. */
async function someBeats(): Promise<void> {
  const beat = () => rig.value<number>('select max(beat) from holdfast_internal.nodes')
  const before = await beat()
  await until('some beats', async () => (await beat()) > before + 3)
}

const lettersOf = async (endpoint: string) =>
  rig.rows<{ reason: string; error_code: string; error: string; attempt: number }>(
    'select reason, error_code, error, attempt from holdfast_internal.dead_letters where lane_id = $1 order by delivery_id',
    [await rig.laneId(endpoint)],
  )

describe('a transform', () => {
  it('is applied at each attempt, so a route that changed between two takes effect', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: script(503, 200) })
    await node.holdfast.endpoints.create({ name: 'mended', config: { url: receiver.url }, retry: quickRetry })
    await node.holdfast.routes.create({
      name: 'mended',
      eventType: 'mended',
      endpoint: 'mended',
      transform: { type: 'template', template: { old: '{{ id }}' } },
    })
    receiver.behave((request, response) => {
      const behave = request.attempt === 1 ? answer(503) : answer(200)
      const changed =
        request.attempt === 1
          ? node.holdfast.routes.update('mended', {
              transform: { type: 'template', template: { new: '{{ id }}' } },
            })
          : Promise.resolve()
      void changed.then(() => behave(request, response))
    })
    const { id } = await node.holdfast.publish('mended', { id: 17 })
    const requests = await receiver.ledger.waitFor(2)
    expect(requests.map(({ body }) => body)).toEqual(['{"old":17}', '{"new":17}'])
    expect(requests.map(({ webhookId }) => webhookId)).toEqual([id, id])
  })

  it('that fails creates a dead letter at once with the position of the error, and the endpoint continues', async () => {
    const handled: unknown[] = []
    const name = await functionEndpoint(node.holdfast, (message) => void handled.push(message.payload))
    await node.holdfast.routes.create({
      name,
      eventType: 'fails',
      endpoint: name,
      transform: { type: 'template', template: { id: '{{ order.id }}' } },
    })
    await node.holdfast.publishBatch([
      { type: 'fails', payload: { order: { id: 1 } } },
      { type: 'fails', payload: {} },
      { type: 'fails', payload: { order: { id: 3 } } },
    ])
    await rig.whenSettled(name)
    expect(handled).toEqual([{ id: 1 }, { id: 3 }])
    expect(await lettersOf(name)).toEqual([
      {
        reason: 'transform',
        error_code: 'template_missing_value',
        error: expect.stringMatching(/order\.id/),
        attempt: 1,
      },
    ])
    expect(await node.holdfast.endpoints.health(name)).toMatchObject({
      state: 'active',
      circuit: { failures: 0 },
    })
  })

  it('that was fixed is applied when its dead letters are redriven', async () => {
    const handled: HandlerMessage[] = []
    const name = await functionEndpoint(node.holdfast, (message) => void handled.push(message))
    await node.holdfast.routes.create({
      name,
      eventType: 'unmended',
      endpoint: name,
      transform: { type: 'template', template: { id: '{{ order.id }}' } },
    })
    const { id } = await node.holdfast.publish('unmended', { orders: [{ id: 7 }] })
    await rig.whenSettled(name)
    const { data: letters } = await node.holdfast.deadLetters.list({ endpoint: name })
    expect(letters).toMatchObject([{ state: 'open', reason: 'transform' }])
    await node.holdfast.routes.update(name, {
      transform: { type: 'template', template: { id: '{{ orders[0].id }}' } },
    })
    await rig.heard(node)
    await node.holdfast.deadLetters.redrive(letters[0]!.id)
    await until('it', () => handled.length === 1)
    // From the original, and with the id that the receiver would have seen the first time.
    expect(handled[0]).toMatchObject({ id, payload: { id: 7 } })
  })

  it('of an unknown type fails only its own deliveries', async () => {
    const handled: unknown[] = []
    const name = await functionEndpoint(node.holdfast, (message) => void handled.push(message.payload), {
      eventTypes: ['other.kind'],
    })
    await node.holdfast.routes.create({ name, eventType: 'unknown.kind', endpoint: name })
    await rig.rows(`update holdfast_internal.routes set transform = '{"type": "xslt"}' where name = $1`, [
      name,
    ])
    await node.holdfast.publishBatch([
      { type: 'unknown.kind', payload: 1 },
      { type: 'other.kind', payload: 2 },
    ])
    await rig.whenSettled(name)
    expect(handled).toEqual([2])
    expect(await lettersOf(name)).toMatchObject([{ reason: 'transform', error_code: 'transform_unknown' }])
  })

  it('never lets the raw body out while its route changes under a full buffer', async () => {
    const gate = new Gate()
    const bodies: string[] = []
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        bodies.push(message.body)
        await gate.passed()
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.routes.create({
      name,
      eventType: 'buffered',
      endpoint: name,
      transform: { type: 'template', template: { shape: 'one', id: '{{ id }}' } },
    })
    await node.holdfast.publishBatch(
      Array.from({ length: 50 }, (_, id) => ({ type: 'buffered', payload: { id, secret: 'not for them' } })),
    )
    await until('the first', () => bodies.length === 1)
    await node.holdfast.routes.update(name, {
      transform: { type: 'template', template: { shape: 'two', id: '{{ id }}' } },
    })
    await someBeats()
    gate.open()
    await rig.whenSettled(name)
    expect(bodies).toHaveLength(50)
    expect(bodies.filter((body) => body.includes('secret'))).toEqual([])
    expect(bodies.slice(1).map((body) => JSON.parse(body) as unknown)).toEqual(
      Array.from({ length: 49 }, (_, index) => ({ shape: 'two', id: index + 1 })),
    )
  })

  it('shows each recipient the id that it dedupes on', async () => {
    const seen: [string, unknown][] = []
    const record = (message: { id: string; payload: unknown }) =>
      void seen.push([message.id, (message.payload as { id?: string }).id])
    const first = await functionEndpoint(node.holdfast, record)
    const second = await functionEndpoint(node.holdfast, record)
    const shape = { type: 'template', template: { id: '{{ $messageId }}' } } as const
    await node.holdfast.routes.create({
      name: `${first}-raw`,
      eventType: 'ids',
      endpoint: first,
      transform: { type: 'template', template: { id: '{{ $messageId }}', other: true } },
    })
    await node.holdfast.routes.create({
      name: `${first}-shape`,
      eventType: 'ids',
      endpoint: first,
      transform: shape,
    })
    await node.holdfast.routes.create({
      name: `${second}-shape`,
      eventType: 'ids',
      endpoint: second,
      transform: shape,
    })
    const { id } = await node.holdfast.publish('ids', 1)
    await until('three', () => seen.length === 3)
    expect(seen.map(([header]) => header).sort()).toEqual([id, id, `${id}.1`])
    for (const [header, inBody] of seen) expect(inBody).toBe(header)
  })
})

describe('forced deletion while a node holds deliveries in memory', () => {
  /** An endpoint whose first delivery is under way and whose others are read and wait. */
  async function crowded(settings: { readonly hasRoute: boolean }) {
    const gate = new Gate()
    const handled: unknown[] = []
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        handled.push(message.payload)
        await gate.passed()
      },
      { limits: { concurrency: 1 }, ...(!settings.hasRoute && { eventTypes: ['crowded'] }) },
    )
    if (settings.hasRoute) {
      await node.holdfast.routes.create({
        name,
        eventType: 'crowded',
        endpoint: name,
        transform: { type: 'template', template: '{{ id }}' },
      })
    }
    const laneId = await rig.laneId(name)
    await node.holdfast.publishBatch(
      Array.from({ length: 20 }, (_, id) => ({ type: 'crowded', payload: { id } })),
    )
    await until('the first', () => handled.length === 1)
    return { gate, handled, name, laneId }
  }

  const outcomesOf = async (laneId: number) =>
    rig.rows(
      'select outcome, count(*)::int from holdfast_internal.attempts where lane_id = $1 group by 1 order by 1',
      [laneId],
    )

  it('of a route cancels them all: the node sends none, and the endpoint continues', async () => {
    const { gate, handled, name, laneId } = await crowded({ hasRoute: true })
    expect(await node.holdfast.routes.delete(name, { force: true })).toBe(20)
    await someBeats()
    gate.open()
    await node.holdfast.send(name, 'after')
    await rig.whenSettled(name)
    await until('the last', () => handled.includes('after'))
    await until(
      'the record',
      () => outcomesOf(laneId),
      (outcomes) => JSON.stringify(outcomes).includes('"outcome":1,"count":2'),
    )
    expect(handled).toEqual([0, 'after'])
    expect(await outcomesOf(laneId)).toEqual([
      { outcome: 1, count: 2 },
      { outcome: 11, count: 20 },
    ])
    expect(await lettersOf(name)).toEqual([])
  })

  it('of a route keeps the pending count correct, and frees ordering keys whose head was cancelled', async () => {
    const handled: unknown[] = []
    const name = await functionEndpoint(node.holdfast, (message) => void handled.push(message.payload))
    await node.holdfast.routes.create({ name, eventType: 'recounted', endpoint: name })
    await rig.pause(node, name)
    const pending = async () => (await node.holdfast.endpoints.health(name)).pending
    for (let number = 0; number < 30; number++) {
      await node.holdfast.publish('recounted', number, { orderingKey: `key ${number % 3}` })
    }
    await node.holdfast.send(name, 'behind a cancelled head', { orderingKey: 'key 0' })
    await until('all to be counted', pending, (count) => count === 31)
    await node.holdfast.routes.delete(name, { force: true })
    await until('the new count', pending, (count) => count === 1)
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(handled).toEqual(['behind a cancelled head'])
    await until('nothing to be owed', pending, (count) => count === 0)
  })

  it('of an endpoint cancels them all, and the node sends none', async () => {
    const { gate, handled, name, laneId } = await crowded({ hasRoute: false })
    expect(await node.holdfast.endpoints.delete(name, { force: true })).toBe(20)
    await someBeats()
    gate.open()
    await someBeats()
    expect(handled).toHaveLength(1)
    expect(JSON.stringify(await outcomesOf(laneId))).toContain('{"outcome":11,"count":20}')
    expect(node.holdfast.node?.inFlight).toBe(0)
  })

  it('of a route cancels messages that are committed late instead of sending them untransformed', async () => {
    const handled: unknown[] = []
    const name = await functionEndpoint(node.holdfast, (message) => void handled.push(message.payload))
    await node.holdfast.routes.create({
      name,
      eventType: 'late.commit',
      endpoint: name,
      transform: { type: 'template', template: '{{ id }}' },
    })
    const client = await rig.database.pool.connect()
    await client.query('begin')
    await node.holdfast.publish('late.commit', { id: 1, secret: true }, { client })
    expect(await node.holdfast.routes.delete(name)).toBe(0)
    await client.query('commit')
    client.release()
    await rig.whenSettled(name)
    expect(handled).toEqual([])
    expect(
      await rig.rows('select outcome, error_code, error from holdfast_internal.attempts where lane_id = $1', [
        await rig.laneId(name),
      ]),
    ).toEqual([
      { outcome: 11, error_code: 'cancelled', error: 'Its route was deleted before it could be sent.' },
    ])
  })
})
