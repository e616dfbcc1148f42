import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RetryAfterError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer, script } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

describe('a receiver that throttles', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
  })
  afterAll(() => rig.stop())

  const health = (name: string) => node.holdfast.endpoints.health(name)

  it.each([429, 503])(
    'with %i and Retry-After is held as a whole, and the response is not a failure',
    async (status) => {
      await using receiver = await HttpReceiver.start({
        behaviour: script(answer(status, { headers: { 'retry-after': '1' } }), 200),
      })
      const name = `held-${status}`
      await node.holdfast.endpoints.create({
        name,
        config: { url: receiver.url },
        limits: { concurrency: 1 },
        circuit: { threshold: 1 },
        retry: { maxRetries: 0 },
      })
      await node.holdfast.sendBatch(name, [{ payload: 1 }, { payload: 2 }, { payload: 3 }])
      const held = await until(
        'the hold',
        () => health(name),
        ({ state }) => state === 'held',
      )
      expect(held.heldUntil!.getTime()).toBeGreaterThan(Date.now())
      expect(held.circuit).toMatchObject({ state: 'closed', failures: 0 })
      expect(receiver.ledger.requests).toHaveLength(1)
      await rig.whenSettled(name)
      const [first, second] = receiver.ledger.requests
      expect(second!.receivedAt.getTime() - first!.receivedAt.getTime()).toBeGreaterThanOrEqual(995)
      expect(receiver.ledger.requests).toHaveLength(4)
      const outcomes = await rig.rows<{ outcome: number }>(
        'select outcome from holdfast_internal.attempts where lane_id = $1 order by started_at',
        [await rig.laneId(name)],
      )
      expect(outcomes.map(({ outcome }) => outcome)).toEqual([5, 1, 1, 1])
      expect(await health(name)).toMatchObject({ state: 'active' })
    },
  )

  it('without a time delays only that delivery, by its retry policy', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: script(429, 200) })
    await node.holdfast.endpoints.create({
      name: 'unsaid',
      config: { url: receiver.url },
      limits: { concurrency: 1 },
      // Long enough for the second request to be sent meanwhile on a busy machine.
      retry: { strategy: 'fixed', baseDelayMs: 3000, jitter: 'none', maxRetries: 0 },
    })
    await node.holdfast.sendBatch('unsaid', [{ payload: 1 }, { payload: 2 }])
    await rig.whenSettled('unsaid')
    expect(receiver.ledger.requests.map(({ body }) => body)).toEqual(['1', '2', '1'])
    const [first, second, third] = receiver.ledger.requests.map(({ receivedAt }) => receivedAt.getTime())
    expect(second! - first!).toBeLessThan(3000)
    expect(third! - first!).toBeGreaterThanOrEqual(2995)
  })

  it('is left alone only until a person resets the circuit', async () => {
    let isThrottling = true
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        if (isThrottling) throw new RetryAfterError(3_600_000)
      },
      { limits: { concurrency: 1 }, retry: { baseDelayMs: 100 } },
    )
    await node.holdfast.sendBatch(name, [{ payload: 1 }, { payload: 2 }])
    await until(
      'the hold',
      () => health(name),
      ({ state }) => state === 'held',
    )
    isThrottling = false
    await node.holdfast.endpoints.resetCircuit(name)
    await rig.whenSettled(name)
    expect(await health(name)).toMatchObject({ state: 'active', heldUntil: null })
  })

  it('holds no other endpoint', async () => {
    const throttled = await functionEndpoint(node.holdfast, () => {
      throw new RetryAfterError(3_600_000)
    })
    const other = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.send(throttled, 1)
    await until(
      'the hold',
      () => health(throttled),
      ({ state }) => state === 'held',
    )
    await node.holdfast.sendBatch(
      other,
      Array.from({ length: 100 }, (_, index) => ({ payload: index })),
    )
    await rig.whenSettled(other)
  })
})
