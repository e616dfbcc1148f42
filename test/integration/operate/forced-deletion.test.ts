import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

let rig: Rig
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start({ limits: { beatMs: 100 } })
})
afterAll(() => rig.stop())

const owedTo = (lane: number) =>
  rig.value<number>('select count(*)::int from holdfast_internal.deliveries where lane_id = $1', [lane])

async function whenDone(operation: string): Promise<void> {
  await until(
    'the operation to end',
    () => node.holdfast.operations.get(operation),
    ({ state }) => state === 'succeeded',
  )
}

describe('an endpoint that owes many deliveries', () => {
  const many = 12_000

  async function paused(): Promise<{ name: string; lane: number }> {
    const name = await functionEndpoint(node.holdfast, () => {})
    await rig.pause(node, name)
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: many }, (_, number) => ({ payload: { number } })),
    )
    return { name, lane: await rig.laneId(name) }
  }

  it('is deleted by force at once, and what it owed ends as cancelled by an operation that says how far it is', async () => {
    const { name, lane } = await paused()
    const { cancelled, operation } = await node.holdfast.endpoints.remove(name, { force: true })
    expect(cancelled).toBe(0)
    expect(operation).toMatch(/^op_/)
    await expect(node.holdfast.endpoints.get(name)).rejects.toMatchObject({ code: 'endpoint_not_found' })
    await whenDone(operation as string)
    expect(await node.holdfast.operations.get(operation as string)).toMatchObject({
      kind: 'cancel',
      total: many,
      done: many,
      skipped: 0,
    })
    expect(await owedTo(lane)).toBe(0)
    expect(
      await rig.rows(
        'select outcome, error, count(*)::int from holdfast_internal.attempts where lane_id = $1 group by 1, 2',
        [lane],
      ),
    ).toEqual([{ outcome: 11, error: `Endpoint "${name}" was deleted.`, count: many }])
  })

  it('owes nothing in the end, also of what was published while it was deleted', async () => {
    const { name, lane } = await paused()
    const publisher = await rig.database.pool.connect()
    await publisher.query('begin')
    await node.holdfast.send(name, 'late', { client: publisher })
    const { operation } = await node.holdfast.endpoints.remove(name, { force: true })
    await publisher.query('commit')
    publisher.release()
    await whenDone(operation as string)
    await until(
      'the late one to be cancelled',
      () => owedTo(lane),
      (owed) => owed === 0,
    )
  })

  it('leaves a route that led many its way to an operation too', async () => {
    const name = await functionEndpoint(node.holdfast, () => {})
    await rig.pause(node, name)
    await node.holdfast.routes.create({ name, eventType: 'bulk.routed', endpoint: name })
    await node.holdfast.publishBatch(
      Array.from({ length: 3000 }, (_, id) => ({ type: 'bulk.routed', payload: { id } })),
    )
    await node.holdfast.send(name, 'stays')
    const { operation } = await node.holdfast.routes.remove(name, { force: true })
    await whenDone(operation as string)
    expect(await node.holdfast.operations.get(operation as string)).toMatchObject({ done: 3000, total: 3000 })
    expect(await owedTo(await rig.laneId(name))).toBe(1)
  })
})

it('a request in flight when its endpoint is deleted, and that the receiver accepts, is recorded as succeeded', async () => {
  const gate = new Gate()
  await using receiver = await HttpReceiver.start({
    behaviour: (_, response) => void gate.passed().then(() => response.writeHead(200).end()),
  })
  await node.holdfast.endpoints.create({
    name: 'accepting',
    config: { url: receiver.url },
    limits: { concurrency: 1 },
  })
  const first = await node.holdfast.send('accepting', 'out')
  const second = await node.holdfast.send('accepting', 'waiting')
  await receiver.ledger.waitFor(1)
  await node.holdfast.endpoints.remove('accepting', { force: true })
  // The node has heard of it: it has no such lane any more.
  await until('the lane to go', () => node.holdfast.node?.inFlight === 1)
  const beat = () => rig.value<number>('select max(beat) from holdfast_internal.nodes')
  const before = await beat()
  await until('some beats', async () => (await beat()) > before + 3)
  gate.open()
  const stateOf = async ({ deliveryId }: { deliveryId: string }) =>
    (await node.holdfast.deliveries.get(deliveryId)).state
  await until(
    'the answer to be recorded',
    () => stateOf(first),
    (state) => state === 'succeeded',
  )
  expect(await stateOf(second)).toBe('cancelled')
  expect(receiver.ledger.requests).toHaveLength(1)
})
