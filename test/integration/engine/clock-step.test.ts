import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultBurst } from '../../../src/core/health/rate-limiter.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer } from '../../support/receivers/behaviours.ts'
import { Gate } from '../../support/receivers/gate.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'
import { SettableClock } from '../../support/settable-clock.ts'
import { createTestDatabase } from '../../support/test-database.ts'

const hourMs = 3_600_000

/** A database whose clock is set right, or another server that takes its place: what was to come in a moment must not take an hour. */
describe("the database's clock steps back an hour", () => {
  let rig: Rig
  let clock: SettableClock
  let node: RunningNode

  beforeAll(async () => {
    const database = await createTestDatabase({ isMigrated: false, maxConnections: 30 })
    rig = Rig.on(database)
    clock = await SettableClock.install(database)
    node = await rig.start({ limits: { beatMs: 500 } })
  })
  afterAll(() => rig.stop())

  it('before the node notices: a retry is scheduled by the new time', async () => {
    const gate = new Gate()
    let tries = 0
    const name = await functionEndpoint(
      node.holdfast,
      async () => {
        tries += 1
        await gate.passed()
        if (tries < 2) throw new Error('not yet')
      },
      { retry: { strategy: 'fixed', baseDelayMs: 1500, jitter: 'none', maxRetries: 5 } },
    )
    await node.holdfast.send(name, 'tried again')
    await until('the first try to be out', () => tries === 1)
    await clock.step(-hourMs)
    gate.open()
    await rig.whenSettled(name)
    expect(tries).toBe(2)
  })

  it('while a backlog waits for its rate limit', async () => {
    let seen = 0
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        seen += 1
      },
      { limits: { ratePerSecond: 10 } },
    )
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 60 }, (_, payload) => ({ payload })),
    )
    await until('some to have come', () => seen >= 3)
    // The new endpoint is no news any more: nothing but the step makes the node look at it.
    await clock.pass(0)
    await clock.pass(-hourMs)
    await rig.whenSettled(name)
  })

  it('while a batch waits to fill up', async () => {
    let seen = 0
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        seen += 1
      },
      { batch: { maxMessages: 10, maxWaitMs: 4000 } },
    )
    await node.holdfast.send(name, 'waits for others')
    await clock.pass(-hourMs)
    await rig.whenSettled(name)
    expect(seen).toBe(1)
  })
})

describe("the database's clock steps forwards", () => {
  let rig: Rig
  let clock: SettableClock
  let node: RunningNode

  beforeAll(async () => {
    const database = await createTestDatabase({ isMigrated: false, maxConnections: 30 })
    rig = Rig.on(database)
    clock = await SettableClock.install(database)
    node = await rig.start({ limits: { beatMs: 200 } })
  })
  afterAll(() => rig.stop())

  it('and an endpoint keeps its rate limit', async () => {
    const ratePerSecond = 60
    const steps = 6
    const seenAtMs: number[] = []
    const name = await functionEndpoint(node.holdfast, () => void seenAtMs.push(performance.now()), {
      limits: { ratePerSecond },
    })
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 600 }, (_, payload) => ({ payload })),
    )
    await until('the first to have come', () => seenAtMs.length > 0)
    for (let step = 0; step < steps; step += 1) await clock.pass(60_000)
    const firstMs = seenAtMs[0]!
    const elapsedMs = seenAtMs.at(-1)! - firstMs
    expect(seenAtMs.length).toBeLessThanOrEqual(
      (ratePerSecond * elapsedMs) / 1000 + defaultBurst(ratePerSecond) + 1,
    )
  })

  it('and request() uses it to decide whether a hold is over', async () => {
    await using receiver = await HttpReceiver.start({ behaviour: answer(200) })
    await node.holdfast.endpoints.create({ name: 'called', config: { url: receiver.url } })
    await rig.rows(
      `insert into holdfast_internal.breakers (lane_id, held_until) values ($1, clock_timestamp() - interval '1 second')`,
      [await rig.laneId('called')],
    )
    expect(await node.holdfast.request('called')).toMatchObject({ ok: true })
  })
})
