import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'

/** A lane reads what is due from where it last stood. Without safety nets: what falls behind that stays lying, and the test sees it. */
describe('what becomes due before the last that was read', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
  })
  afterAll(() => rig.stop())

  const soon = () => new Date(Date.now() + 20)

  it('is sent when it is made due manually', async () => {
    const seen: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => void seen.push(payload))
    const { deliveryId } = await node.holdfast.send(name, 'tomorrow', {
      deliverAt: new Date(Date.now() + 86_400_000),
    })
    for (const payload of ['first', 'second']) {
      await node.holdfast.send(name, payload, { deliverAt: soon() })
      await until(`${payload} to come`, () => seen.includes(payload))
    }
    await node.holdfast.deliveries.retry(deliveryId)
    await until('the hurried one to come', () => seen.includes('tomorrow'))
  })

  it('is sent when it was read, put back by a pause, and others went by', async () => {
    const gate = new Gate()
    const seen: unknown[] = []
    const name = await functionEndpoint(
      node.holdfast,
      ({ payload }) => {
        seen.push(payload)
        return payload === 'plug' ? gate.passed() : undefined
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.send(name, 'plug')
    await until('the plug to sit', () => seen.length === 1)
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 20 }, (_, index) => ({ payload: index, deliverAt: soon() })),
    )
    // The node reads its lanes in turn: when a later one has come, these have been read.
    let isLater = false
    const other = await functionEndpoint(node.holdfast, () => {
      isLater = true
    })
    await node.holdfast.send(other, 'later', { deliverAt: new Date(Date.now() + 150) })
    await until('the later one to come', () => isLater)
    await rig.pause(node, name)
    gate.open()
    await until('the plug to be settled', async () => (await rig.owed(name)) <= 20)
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(seen.slice(1).toSorted((first, second) => Number(first) - Number(second))).toEqual(
      Array.from({ length: 20 }, (_, index) => index),
    )
  })

  it('is sent when it is a retry, among hundreds of others', async () => {
    const tries = new Map<unknown, number>()
    const name = await functionEndpoint(
      node.holdfast,
      async ({ payload }) => {
        await new Promise((resolve) => setImmediate(resolve))
        const count = (tries.get(payload) ?? 0) + 1
        tries.set(payload, count)
        if (count < 3) throw new Error('not yet')
      },
      {
        circuit: { threshold: 1000 },
        retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none', maxRetries: 5 },
      },
    )
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 300 }, (_, payload) => ({ payload })),
    )
    await rig.whenSettled(name, 20_000)
    expect([...tries.values()].every((count) => count === 3)).toBe(true)
  })
})

describe('what is due', () => {
  const bound = 20
  const concurrency = 100
  let rig: Rig

  beforeAll(async () => {
    rig = await Rig.create()
  })
  afterAll(() => rig.stop())

  it('is read no further ahead than the limit, however many are in flight', async () => {
    const gate = new Gate()
    const seen: unknown[] = []
    const holdfast = rig.client({ limits: { maxReadAheadRows: bound } })
    const name = await functionEndpoint(
      holdfast,
      ({ payload }) => {
        seen.push(payload)
        return gate.passed()
      },
      { limits: { concurrency } },
    )
    const inAnHourMs = Date.now() + 3_600_000
    await holdfast.sendBatch(
      name,
      Array.from({ length: 500 }, (_, payload) => ({
        payload,
        deliverAt: new Date(inAnHourMs + 10 * payload),
      })),
    )
    await rig.rows(`update holdfast_internal.deliveries set due_at = due_at - interval '2 hours'`)
    await holdfast.start()
    await until('every slot to be taken', () => seen.length === concurrency)
    // Behind the node's back: what it has read it still sends, the rest is gone.
    await rig.rows('delete from holdfast_internal.deliveries')
    await holdfast.send(name, 'last')
    gate.open()
    await until('the last one to come', () => seen.includes('last'))
    expect(seen.length - 1).toBeLessThanOrEqual(concurrency + bound)
  })
})
