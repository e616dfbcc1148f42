import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'
import {
  startTransactionPoolingProxy,
  type TransactionPoolingProxy,
} from '../../support/transaction-pooling-proxy.ts'

describe('forced deletion while a node that no notification reaches holds deliveries in memory', () => {
  let rig: Rig
  let proxy: TransactionPoolingProxy
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    proxy = await startTransactionPoolingProxy(rig.database.url, { poolSize: 10 })
    node = await rig.start({ databaseUrl: proxy.url, limits: { beatMs: 100 } })
    expect(node.complaints.join()).toMatch(/the node polls/)
  })
  afterAll(async () => {
    await node.holdfast.stop()
    await proxy.stop()
    await rig.stop()
  })

  /** Long enough that the node has read what was changed before. */
  async function someBeats(): Promise<void> {
    const beat = () => rig.value<number>('select max(beat) from holdfast_internal.nodes')
    const before = await beat()
    await until('some beats', async () => (await beat()) > before + 3)
  }

  /** An endpoint whose first delivery is under way and whose others are read and wait. */
  async function crowded() {
    const gate = new Gate()
    const handled: unknown[] = []
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        handled.push(message.payload)
        await gate.passed()
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.routes.create({ name, eventType: name, endpoint: name })
    const ids = Array.from({ length: 20 }, (_, id) => id)
    await node.holdfast.publishBatch(ids.map((payload) => ({ type: name, payload })))
    await until('the first', () => handled.length === 1)
    return { gate, handled, name, laneId: await rig.laneId(name) }
  }

  const cancelledOf = (laneId: number) =>
    rig.value<number>(
      'select count(*)::int from holdfast_internal.attempts where lane_id = $1 and outcome = 11',
      [laneId],
    )

  it('of a route: the node sends none of them and counts again', async () => {
    const { gate, handled, name, laneId } = await crowded()
    expect(await node.holdfast.routes.delete(name, { force: true })).toBe(20)
    await someBeats()
    gate.open()
    await node.holdfast.send(name, 'after')
    await until('the last', () => handled.includes('after'))
    expect(handled).toEqual([0, 'after'])
    expect(await cancelledOf(laneId)).toBe(20)
    await until(
      'the new count',
      async () => (await node.holdfast.endpoints.health(name)).pending,
      (pending) => pending === 0,
    )
  })

  it('of an endpoint: the node sends none of them', async () => {
    const { gate, handled, name, laneId } = await crowded()
    expect(await node.holdfast.endpoints.delete(name, { force: true })).toBe(20)
    await someBeats()
    gate.open()
    await until('nothing to be in flight', () => node.holdfast.node?.inFlight === 0)
    await someBeats()
    expect(handled).toEqual([0])
    expect(await cancelledOf(laneId)).toBe(20)
  })
})
