import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/engine/clock.ts'
import { DeliverySettler } from '../../../src/engine/delivery-settler.ts'
import { Database } from '../../../src/storage/database.ts'
import type { SuccessRecord } from '../../../src/storage/settle.ts'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'

const busy = 40
const gatherMs = 15

describe('results of a busy node', () => {
  let rig: Rig
  let laneId: number
  let ids: number[]
  let batches: number[][]
  let settler: DeliverySettler
  let inFlight: number
  let maxUnsettled: number

  beforeAll(async () => {
    rig = await Rig.create()
    const sender = rig.client()
    const name = await functionEndpoint(sender, () => {})
    await sender.sendBatch(
      name,
      Array.from({ length: 1000 }, (_, payload) => ({ payload })),
    )
    laneId = await rig.laneId(name)
    ids = (await rig.rows<{ id: string }>('select id from holdfast_internal.deliveries order by id')).map(
      ({ id }) => Number(id),
    )
  })
  afterAll(() => rig.stop())

  beforeEach(() => {
    batches = []
    inFlight = 1
    maxUnsettled = 2000
    settler = new DeliverySettler({
      database: new Database({ pool: rig.database.pool, preparesStatements: true, deadlineMs: 15_000 }),
      clock: systemClock,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      incarnation: () => 1,
      inFlight: () => inFlight,
      get limits() {
        return { maxUnsettled }
      },
      takeTally: () => null,
      onSuccessesSettled: (records) => void batches.push(records.map(({ id }) => id)),
      onFailuresSettled() {},
      onTalliesSettled() {},
      onQuarantined() {},
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => vi.useRealTimers())

  const succeed = (orderingKey: string | null = null): number => {
    const id = ids.shift() ?? 0
    const record: SuccessRecord = {
      id,
      rowMessageId: id,
      laneId,
      routeId: null,
      attempt: 1,
      startedAtMs: 0,
      durationMs: 1,
      statusCode: null,
      orderingKey,
    }
    settler.succeed(record)
    return id
  }
  /** Real turns of the event loop: only timers stand still. (`vi.waitUntil` would move them.) */
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const whenBatches = async (count: number) => {
    while (batches.length < count) await turn()
  }
  const whenGathering = async () => {
    for (let each = 0; each < busy; each++) succeed()
    await whenBatches(1)
    await turn()
  }

  it('are committed together after a moment', async () => {
    await whenGathering()
    const [first, second] = [succeed(), succeed()]
    // Time enough for a commit.
    for (let each = 0; each < 5; each++) await rig.count('deliveries')
    expect(batches).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(gatherMs)
    await whenBatches(2)
    expect(batches[1]).toEqual([first, second])
  })

  it('wait for nothing where an ordering key becomes free', async () => {
    await whenGathering()
    const first = succeed()
    const keyed = succeed('customer-7')
    await whenBatches(2)
    expect(batches[1]).toEqual([first, keyed])
  })

  it('wait for nothing when there are many, or when the node stops', async () => {
    await whenGathering()
    for (let each = 0; each < 400; each++) succeed()
    await whenBatches(2)
    expect(batches[1]).toHaveLength(400)
    await turn()
    succeed()
    await settler.drained()
    expect(batches).toHaveLength(3)
  })

  it('wait for nothing when no more can come', async () => {
    inFlight = 0
    for (let each = 0; each < busy; each++) succeed()
    await whenBatches(1)
    succeed()
    await whenBatches(2)
  })

  it('wait for nothing when dispatch is about to stop for them', async () => {
    maxUnsettled = 60
    await whenGathering()
    for (let each = 0; each < 30; each++) succeed()
    await whenBatches(2)
    expect(batches[1]).toHaveLength(30)
  })

  it('are committed immediately when the node is quiet', async () => {
    succeed()
    await whenBatches(1)
    succeed()
    await whenBatches(2)
    expect(batches.map((batch) => batch.length)).toEqual([1, 1])
  })
})
