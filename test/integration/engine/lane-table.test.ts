import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/engine/clock.ts'
import type { Lane } from '../../../src/engine/lane.ts'
import { LaneRefresher } from '../../../src/engine/lane-refresher.ts'
import { LaneTable } from '../../../src/engine/lane-table.ts'
import { Database, type Statement } from '../../../src/storage/database.ts'
import { functionEndpoint, Rig } from '../../support/engine/rig.ts'
import { Gate } from '../../support/receivers/gate.ts'

/** The real database, which is away when it is asked what a lane owes. */
class WithoutCounts extends Database {
  override async query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    if (statement.name === 'count_lane') throw new Error('Connection terminated')
    return super.query<Row>(statement, values)
  }
}

/** The real database, whose answers can be held back. */
class SlowAnswers extends Database {
  asked = 0
  gate: Gate | null = null
  /** Resolves when an answer is being held back. */
  onHeld: () => void = () => {}

  override async query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    this.asked += 1
    const rows = await super.query<Row>(statement, values)
    const { gate } = this
    if (gate !== null) {
      this.onHeld()
      await gate.passed()
    }
    return rows
  }
}

let rig: Rig

async function loadedLane(
  database: Database,
  onChanged: (lane: Lane) => void = () => {},
): Promise<{ table: LaneTable; lane: Lane; name: string }> {
  const name = await functionEndpoint(rig.client(), () => {})
  const table = new LaneTable({
    database,
    isLeaving: () => false,
    epochOf: () => 1,
    clock: systemClock,
    rejectingThreshold: () => 20,
    cursor: () => 0,
    onChanged,
    onResumed() {},
    onCircuitChanged: () => {},
    onReplaced: () => {},
  })
  const laneId = await rig.laneId(name)
  await table.loadNew([laneId])
  const lane = table.get(laneId)
  if (lane === undefined) throw new Error('the lane was not loaded')
  return { table, lane, name }
}

beforeAll(async () => {
  rig = await Rig.create()
})
afterAll(() => rig.stop())

describe("a lane's picture from before a change", () => {
  let database: SlowAnswers
  beforeAll(() => {
    database = new SlowAnswers({ pool: rig.database.pool, preparesStatements: true, deadlineMs: 10_000 })
  })

  /** A read of the lane that PostgreSQL has answered, and whose answer is still on its way. */
  async function heldRead(table: LaneTable, lane: Lane): Promise<() => Promise<void>> {
    const gate = new Gate()
    database.gate = gate
    const held = new Promise<void>((resolve) => {
      database.onHeld = resolve
    })
    const reading = table.refresh([lane.id])
    await held
    database.gate = null
    return async () => {
      gate.open()
      await reading
    }
  }

  it("doesn't reopen an endpoint that has just been paused", async () => {
    const { table, lane, name } = await loadedLane(database)
    const arrive = await heldRead(table, lane)
    await rig.client().endpoints.pause(name)
    table.noteChanged(lane)
    await arrive()
    expect(lane.gate(0).kind).toBe('shut')
    await rig.client().endpoints.resume(name)
    await table.refresh([lane.id])
    expect(lane.gate(0).kind).toBe('open')
  })

  it('is never the last to arrive: reads are made one after another', async () => {
    const { table, lane, name } = await loadedLane(database)
    const arrive = await heldRead(table, lane)
    await rig.client().endpoints.pause(name)
    const asked = database.asked
    const second = table.readChanges()
    await rig.value('select 1')
    expect(database.asked).toBe(asked)
    await arrive()
    await second
    expect(lane.state).toBe('paused')
  })
})

it('a lane that is read again starts from the beginning, even if its count fails', async () => {
  const changed: Lane[] = []
  const database = new WithoutCounts({
    pool: rig.database.pool,
    preparesStatements: true,
    deadlineMs: 10_000,
  })
  const { table, lane } = await loadedLane(database, (each) => changed.push(each))
  expect(lane.reading.hasMore(0)).toBe(false)
  table.restart(lane)
  await expect(table.recount(lane)).rejects.toThrow('Connection terminated')
  expect(lane.reading.hasMore(0)).toBe(true)
  expect(changed).toEqual([lane])
})

describe('a message that is committed after its endpoint was deleted, and arrives before the node has noticed', () => {
  /** The real database, which is away when orphans are to be cancelled for the first time. */
  class WithoutFirstCancel extends Database {
    cancels = 0

    override async query<Row extends object>(
      statement: Statement,
      values: readonly unknown[],
    ): Promise<Row[]> {
      if (statement.name === 'cancel_orphans') {
        this.cancels += 1
        if (this.cancels === 1) throw new Error('Connection terminated')
      }
      return super.query<Row>(statement, values)
    }
  }

  /** With the lane still in the table. */
  async function orphan(database: Database) {
    const { table, lane, name } = await loadedLane(database)
    const client = await rig.database.pool.connect()
    try {
      await client.query('begin')
      await rig.client().send(name, {}, { client })
      await rig.client().endpoints.delete(name, { force: true })
      await client.query('commit')
    } finally {
      client.release()
    }
    const pending = () =>
      rig.value<number>('select count(*)::int from holdfast_internal.deliveries where lane_id = $1', [
        lane.id,
      ])
    expect(await pending()).toBe(1)
    return { table, lane, pending }
  }

  it('is cancelled when the lane is removed', async () => {
    const { table, lane, pending } = await orphan(
      new Database({ pool: rig.database.pool, preparesStatements: true, deadlineMs: 10_000 }),
    )
    await table.refresh([lane.id])
    expect(table.get(lane.id)).toBeUndefined()
    expect(await pending()).toBe(0)
  })

  it('is cancelled by the next try when the database was away', async () => {
    const database = new WithoutFirstCancel({
      pool: rig.database.pool,
      preparesStatements: true,
      deadlineMs: 10_000,
    })
    const { table, lane, pending } = await orphan(database)
    const refresher = new LaneRefresher({ lanes: table, isStopping: () => false, report: () => {} })
    refresher.refresh([lane])
    await vi.waitFor(async () => expect(await pending()).toBe(0), { timeout: 5000 })
    expect(database.cancels).toBe(2)
  })

  it('is cancelled though the operation that cancels the others has passed its id', async () => {
    const database = new Database({
      pool: rig.database.pool,
      preparesStatements: true,
      deadlineMs: 10_000,
    })
    const { table, lane, name } = await loadedLane(database)
    const client = await rig.database.pool.connect()
    try {
      await client.query('begin')
      await rig.client().send(name, {}, { client })
      await rig.client().sendBatch(
        name,
        Array.from({ length: 300 }, () => ({ payload: {} })),
      )
      await rig.client().endpoints.delete(name, { force: true })
      const step = () =>
        rig.value<boolean>(
          `select holdfast_internal.step_operation(id, 'test', 100) from holdfast_internal.operations
           where filter = jsonb_build_object('laneId', $1::int)`,
          [lane.id],
        )
      expect(await step()).toBe(true)
      await client.query('commit')
      await table.refresh([lane.id])
      while (await step());
      expect(
        await rig.value<number>('select count(*)::int from holdfast_internal.deliveries where lane_id = $1', [
          lane.id,
        ]),
      ).toBe(0)
    } finally {
      client.release()
    }
  })
})
