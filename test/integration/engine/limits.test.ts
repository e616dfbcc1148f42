import { performance } from 'node:perf_hooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'

describe('limits of an endpoint', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
  })
  afterAll(() => rig.stop())

  const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ payload: index }))

  it('never exceed the concurrency of attempts in flight', async () => {
    let out = 0
    let most = 0
    const name = await functionEndpoint(
      node.holdfast,
      async () => {
        out += 1
        most = Math.max(most, out)
        await new Promise((resolve) => setTimeout(resolve, 2))
        out -= 1
      },
      { limits: { concurrency: 7 } },
    )
    await node.holdfast.sendBatch(name, numbered(300))
    await rig.whenSettled(name)
    expect(most).toBe(7)
  })

  it('never exceed the rate in any second', async () => {
    const startedAtMs: number[] = []
    const name = await functionEndpoint(node.holdfast, () => void startedAtMs.push(performance.now()), {
      limits: { ratePerSecond: 20 },
    })
    await node.holdfast.sendBatch(name, numbered(40))
    await rig.whenSettled(name)
    expect(startedAtMs).toHaveLength(40)
    const burst = 2
    for (const [index, fromMs] of startedAtMs.entries()) {
      const inWindow = startedAtMs.slice(index).filter((atMs) => atMs < fromMs + 1000).length
      expect(inWindow).toBeLessThanOrEqual(20 + burst)
    }
  })

  it('leave the process idle while a backlog waits for its rate limit', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined, { limits: { ratePerSecond: 2 } })
    await node.holdfast.sendBatch(name, numbered(100))
    await node.log.waitForAttempts(name, 1)
    const before = performance.eventLoopUtilization()
    await node.log.waitForAttempts(name, 3)
    expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5)
    await node.holdfast.endpoints.pause(name)
  })

  it('leave the process idle while many backlogs wait for slow receivers', async () => {
    const gate = new Gate()
    const names = await Promise.all(
      Array.from({ length: 150 }, async () =>
        functionEndpoint(node.holdfast, () => gate.passed(), {
          limits: { concurrency: 1 },
          config: { timeoutMs: 60_000 },
        }),
      ),
    )
    for (const name of names) await node.holdfast.sendBatch(name, numbered(40))
    await until(
      'each receiver to be busy',
      () => node.holdfast.node?.inFlight,
      (count) => count === 150,
    )
    const before = performance.eventLoopUtilization()
    // Time has to pass here: the question is what the process does in it.
    await new Promise((resolve) => setTimeout(resolve, 500))
    const { utilization } = performance.eventLoopUtilization(before)
    gate.open()
    for (const name of names) await rig.whenSettled(name)
    expect(utilization).toBeLessThan(0.5)
  })

  it('let scheduled deliveries go out while a long backlog waits', async () => {
    const gate = new Gate()
    const seen: unknown[] = []
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        await gate.passed()
        seen.push(message.payload)
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.sendBatch(name, numbered(200))
    await node.holdfast.send(name, 'scheduled', { deliverAt: new Date(Date.now() + 50) })
    await until('the schedule to be due', () =>
      rig.value(`select bool_or(due_at < now()) from holdfast_internal.deliveries`),
    )
    gate.open()
    await rig.whenSettled(name)
    expect(seen).toHaveLength(201)
  })

  it('deliver a schedule of more bytes than are read ahead', async () => {
    const own = await Rig.create()
    try {
      const seen = new Set<unknown>()
      const started = await own.start({ limits: { ...withoutSafetyNets, maxReadAheadBytes: 300_000 } })
      const name = await functionEndpoint(started.holdfast, (message) => {
        seen.add((message.payload as { number: number }).number)
      })
      const deliverAt = new Date(Date.now() + 200)
      const text = 'x'.repeat(100_000)
      await started.holdfast.sendBatch(
        name,
        Array.from({ length: 40 }, (_, number) => ({ payload: { number, text }, deliverAt })),
      )
      await own.whenSettled(name)
      expect(seen.size).toBe(40)
    } finally {
      await own.stop()
    }
  })

  it('deliver a backlog of more bytes than are read ahead', async () => {
    const own = await Rig.create()
    try {
      const started = await own.start({ limits: { ...withoutSafetyNets, maxReadAheadBytes: 300_000 } })
      const name = await functionEndpoint(
        started.holdfast,
        () => new Promise((resolve) => setTimeout(resolve, 1)),
      )
      const text = 'x'.repeat(200_000)
      await started.holdfast.sendBatch(
        name,
        Array.from({ length: 40 }, (_, number) => ({ payload: { number, text } })),
      )
      await own.whenSettled(name)
      expect(started.log.of(name)).toHaveLength(40)
    } finally {
      await own.stop()
    }
  })

  it('keep one stuck receiver from delaying others', async () => {
    const gate = new Gate()
    const stuck = await functionEndpoint(node.holdfast, () => gate.passed(), {
      config: { timeoutMs: 60_000 },
    })
    const quick = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.sendBatch(stuck, numbered(5000))
    await until(
      'the stuck line to be full',
      () => node.holdfast.node?.inFlight,
      (count) => count === 64,
    )
    await node.holdfast.sendBatch(quick, numbered(5000))
    await rig.whenSettled(quick)
    expect(await rig.owed(stuck)).toBe(5000)
    gate.open()
    await rig.whenSettled(stuck, 20_000)
  })
})

it('deliveries deleted behind the back of their owner are eventually not counted', async () => {
  const rig = await Rig.create()
  try {
    const node = await rig.start({ limits: { beatMs: 100, sweepMs: 100 } })
    const { holdfast } = node
    const name = await functionEndpoint(holdfast, () => undefined)
    await rig.pause(node, name)
    await holdfast.sendBatch(name, [{ payload: 1 }, { payload: 2 }])
    const pending = async () => (await holdfast.endpoints.health(name)).pending
    await until('both to be counted', async () => (await pending()) === 2)
    await rig.rows('delete from holdfast_internal.deliveries')
    await holdfast.endpoints.resume(name)
    await until('none to be counted', async () => (await pending()) === 0)
  } finally {
    await rig.stop()
  }
})
