import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'

describe('when a delivery is due', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { ...withoutSafetyNets, sweepMs: 100 } })
  })
  afterAll(() => rig.stop())

  it('the highest priority goes first, and within a priority the oldest', async () => {
    const gate = new Gate()
    const seen: unknown[] = []
    const name = await functionEndpoint(
      node.holdfast,
      (message) => {
        seen.push(message.payload)
        return message.payload === 'plug' ? gate.passed() : undefined
      },
      { limits: { concurrency: 1 } },
    )
    await node.holdfast.send(name, 'plug')
    await until('the plug to sit', () => seen.length === 1)
    await node.holdfast.sendBatch(
      name,
      [0, 1, 2, 3, 0, 1, 2, 3].map((priority, index) => ({ payload: `${priority}/${index}`, priority })),
    )
    const laneId = await rig.laneId(name)
    await until(
      'all to be read',
      async () =>
        (await rig.value('select pending from holdfast_internal.lane_stats where lane_id = $1', [laneId])) ===
        9,
    )
    gate.open()
    await rig.whenSettled(name)
    expect(seen).toEqual(['plug', '3/3', '3/7', '2/2', '2/6', '1/1', '1/5', '0/0', '0/4'])
  })

  it('a delivery with a high priority overtakes a long backlog', async () => {
    const seen: unknown[] = []
    const name = await functionEndpoint(
      node.holdfast,
      (message) => {
        seen.push(message.payload)
        return new Promise((resolve) => setTimeout(resolve, 1))
      },
      { limits: { concurrency: 2 } },
    )
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 2000 }, (_, index) => ({ payload: index })),
    )
    await until('the backlog to move', () => seen.length > 20)
    const before = seen.length
    await node.holdfast.send(name, 'urgent', { priority: 3 })
    await until('the urgent one', () => seen.includes('urgent'))
    expect(seen.indexOf('urgent') - before).toBeLessThan(200)
    await node.holdfast.endpoints.pause(name)
  })

  it('is decided by the clock of the database, and not before its time', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const due = await rig.value<Date>(`select now() + interval '300 milliseconds'`)
    await node.holdfast.send(name, 1, { deliverAt: due })
    await rig.whenSettled(name)
    const early = await rig.value<number>(
      `select (extract(epoch from $1::timestamptz - started_at) * 1000)::float8 from holdfast_internal.attempts where lane_id = $2`,
      [due, await rig.laneId(name)],
    )
    expect(early).toBeLessThanOrEqual(5)
    expect(early).toBeGreaterThan(-1000)
  })

  it('hundreds of schedules close to each other are all kept', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const from = Date.now() + 100
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 400 }, (_, index) => ({ payload: index, deliverAt: new Date(from + index) })),
    )
    await rig.whenSettled(name)
    expect(node.log.of(name)).toHaveLength(400)
  })

  it('an expired delivery ends as expired without an attempt, and the attempt list shows its end', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.send(name, 1, { expiresAt: new Date(Date.now() - 1000) })
    await rig.whenSettled(name)
    expect(node.log.of(name)).toEqual([])
    const laneId = await rig.laneId(name)
    expect(
      await rig.rows(
        'select attempt, outcome, error_code, status_code from holdfast_internal.attempts where lane_id = $1',
        [laneId],
      ),
    ).toEqual([{ attempt: 1, outcome: 10, error_code: 'expired', status_code: null }])
    expect(await rig.rows('select from holdfast_internal.dead_letters where lane_id = $1', [laneId])).toEqual(
      [],
    )
  })

  it('a delivery that expires between two attempts keeps its attempts, and the list shows its end', async () => {
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        throw new Error('down')
      },
      { retry: { baseDelayMs: 400, jitter: 'none' }, circuit: { threshold: 1000 } },
    )
    await node.holdfast.send(name, 1, { expiresAt: new Date(Date.now() + 200) })
    await rig.whenSettled(name)
    expect(
      await rig.rows(
        'select attempt, outcome from holdfast_internal.attempts where lane_id = $1 order by attempt',
        [await rig.laneId(name)],
      ),
    ).toEqual([
      { attempt: 1, outcome: 2 },
      { attempt: 2, outcome: 10 },
    ])
  })

  it('a pause keeps all deliveries, including new ones, and a resume continues', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await rig.pause(node, name, 'maintenance')
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 50 }, (_, index) => ({ payload: index })),
    )
    await expect
      .poll(async () => (await node.holdfast.endpoints.health(name)).pending, { timeout: 5000 })
      .toBe(50)
    expect(await node.holdfast.endpoints.health(name)).toMatchObject({
      state: 'paused',
      reason: 'maintenance',
    })
    expect(node.log.of(name)).toEqual([])
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(node.log.of(name)).toHaveLength(50)
  })

  it('a pause in the middle of a stream stops it, and attempts in flight finish', async () => {
    const name = await functionEndpoint(
      node.holdfast,
      () => new Promise((resolve) => setTimeout(resolve, 2)),
      {
        limits: { concurrency: 4 },
      },
    )
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 1000 }, (_, index) => ({ payload: index })),
    )
    await node.log.waitForAttempts(name, 10)
    await node.holdfast.endpoints.pause(name)
    await until('the line to stand', async () => {
      const tried = node.log.of(name).length
      await new Promise((resolve) => setTimeout(resolve, 30))
      return node.log.of(name).length === tried && node.holdfast.node?.inFlight === 0
    })
    const tried = node.log.of(name).length
    expect(tried).toBeLessThan(1000)
    expect(await rig.owed(name)).toBe(1000 - tried)
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(node.log.of(name)).toHaveLength(1000)
  })

  it('a disabled endpoint keeps its deliveries until it is enabled', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await node.holdfast.endpoints.disable(name, 'moved')
    await rig.heard(node)
    await node.holdfast.send(name, 1)
    await expect
      .poll(async () => (await node.holdfast.endpoints.health(name)).pending, { timeout: 5000 })
      .toBe(1)
    await node.holdfast.endpoints.enable(name)
    await rig.whenSettled(name)
    expect(node.log.of(name)).toHaveLength(1)
    const actions = await rig.rows<{ action: string }>(
      `select action from holdfast_internal.audit_log where subject = 'endpoint:' || $1 order by id`,
      [name],
    )
    expect(actions.map(({ action }) => action)).toEqual([
      'endpoint.created',
      'endpoint.disabled',
      'endpoint.active',
    ])
  })

  it('deliveries expire behind a pause', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await rig.pause(node, name)
    await node.holdfast.send(name, 'short', { expiresAt: new Date(Date.now() + 50) })
    await node.holdfast.send(name, 'long')
    await until('the short one to end', async () => (await rig.owed(name)) === 1)
    expect(node.log.of(name)).toEqual([])
  })
})
