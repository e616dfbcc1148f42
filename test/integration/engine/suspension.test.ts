import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { script } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

describe('an endpoint is taken out of service', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { ...withoutSafetyNets, sweepMs: 100 } })
  })
  afterAll(() => rig.stop())

  const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ payload: index }))
  const whenState = async (name: string, state: string) =>
    until(
      `${name} to be ${state}`,
      () => node.holdfast.endpoints.get(name),
      (endpoint) => endpoint.state === state,
    )
  const deadLetters = async (name: string) =>
    Number(
      await rig.value('select count(*) from holdfast_internal.dead_letters where lane_id = $1', [
        await rig.laneId(name),
      ]),
    )
  const audited = async (name: string) =>
    (
      await rig.rows<{ action: string; actor: string }>(
        'select action, actor from holdfast_internal.audit_log where subject = $1 order by id',
        [`endpoint:${name}`],
      )
    ).map(({ action }) => action)

  it('as rejecting, when twenty different messages in a row were rejected, and the rest is kept', async () => {
    let isRefusing = true
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        if (isRefusing) throw new PermanentError('401')
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.sendBatch(name, numbered(60))
    expect((await whenState(name, 'rejecting')).stateReason).toContain('20 different messages')
    expect(await deadLetters(name)).toBe(20)
    expect(await rig.owed(name)).toBe(40)
    await node.holdfast.sendBatch(name, numbered(5))
    isRefusing = false
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(await deadLetters(name)).toBe(20)
    expect(await audited(name)).toEqual(['endpoint.created', 'endpoint.rejecting', 'endpoint.active'])
  })

  it('as rejecting after twenty more, when a resume did not help', async () => {
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        throw new PermanentError('401')
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.sendBatch(name, numbered(100))
    await whenState(name, 'rejecting')
    await node.holdfast.endpoints.resume(name)
    await until('twenty more', async () => (await deadLetters(name)) === 40)
    await whenState(name, 'rejecting')
    expect(await rig.owed(name)).toBe(60)
  })

  it('not as rejecting while messages in between are accepted', async () => {
    const name = await functionEndpoint(
      node.holdfast,
      (message) => {
        if ((message.payload as number) % 15 !== 14) throw new PermanentError('422')
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.sendBatch(name, numbered(120))
    await rig.whenSettled(name)
    expect(await deadLetters(name)).toBe(112)
    expect(await node.holdfast.endpoints.get(name)).toMatchObject({ state: 'active' })
  })

  it('as disabled by a 410, if it says so: that delivery is dead, the rest is held', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: script(410, 200) })
    await node.holdfast.endpoints.create({
      name: 'gone',
      config: { url: receiver.url },
      limits: { concurrency: 1 },
      autoDisable: { onGone: true },
    })
    await node.holdfast.sendBatch('gone', numbered(10))
    expect((await whenState('gone', 'disabled')).stateReason).toContain('410')
    expect(receiver.ledger.requests).toHaveLength(1)
    expect(await deadLetters('gone')).toBe(1)
    expect(await rig.owed('gone')).toBe(9)
    await node.holdfast.endpoints.enable('gone')
    await rig.whenSettled('gone')
    expect(receiver.ledger.requests).toHaveLength(10)
    expect(await audited('gone')).toEqual(['endpoint.created', 'endpoint.disabled', 'endpoint.active'])
  })

  it('as disabled after failures in a row within the window, and comes back after its cooldown', async () => {
    let isDown = true
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        if (isDown) throw new Error('down')
      },
      {
        limits: { concurrency: 1 },
        circuit: { threshold: 1000 },
        retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none', maxRetries: 100 },
        autoDisable: { threshold: 4, windowMs: 60_000, reenableAfterMs: 1000 },
      },
    )
    await node.holdfast.sendBatch(name, numbered(3))
    await whenState(name, 'disabled')
    expect(node.log.of(name)).toHaveLength(4)
    isDown = false
    const other = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.send(other, 1)
    await rig.whenSettled(other)
    expect(node.log.of(name)).toHaveLength(4)
    await whenState(name, 'active')
    await rig.whenSettled(name)
    expect(await audited(name)).toEqual(['endpoint.created', 'endpoint.disabled', 'endpoint.active'])
  })

  it('and enabled again in time even if other endpoints are constantly busy', async () => {
    let isDown = true
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        if (isDown) throw new Error('down')
      },
      {
        autoDisable: { threshold: 1, reenableAfterMs: 1000 },
        circuit: { threshold: 1000 },
        retry: { baseDelayMs: 100 },
      },
    )
    const load = { isOn: true }
    const busy = await functionEndpoint(
      node.holdfast,
      () => new Promise((resolve) => setTimeout(resolve, 1)),
      {
        limits: { concurrency: 2 },
      },
    )
    const feeding = (async () => {
      while (load.isOn) await node.holdfast.sendBatch(busy, numbered(50))
    })()
    await node.holdfast.send(name, 1)
    await whenState(name, 'disabled')
    isDown = false
    try {
      await rig.whenSettled(name, 5000)
    } finally {
      load.isOn = false
      await feeding
      await node.holdfast.endpoints.pause(busy)
    }
  })

  it('not for failures that are further apart than the window', async () => {
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        throw new Error('down')
      },
      {
        circuit: { threshold: 1000 },
        retry: { strategy: 'fixed', baseDelayMs: 600, jitter: 'none', maxRetries: 3 },
        autoDisable: { threshold: 3, windowMs: 1000 },
      },
    )
    await node.holdfast.send(name, 1)
    await rig.whenSettled(name)
    expect(node.log.of(name)).toHaveLength(4)
    expect(await node.holdfast.endpoints.get(name)).toMatchObject({ state: 'active' })
  })

  it('and a state that a person sets meanwhile wins', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.endpoints.disable(name)
    await expect(node.holdfast.request(name)).rejects.toMatchObject({ code: 'endpoint_unavailable' })
    await node.holdfast.endpoints.pause(name, 'later')
    expect(await node.holdfast.endpoints.get(name)).toMatchObject({ state: 'paused', stateReason: 'later' })
    await node.holdfast.endpoints.resume(name)
    await node.holdfast.endpoints.resume(name)
    await node.holdfast.send(name, 1)
    await rig.whenSettled(name)
  })
})
