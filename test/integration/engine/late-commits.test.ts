import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'

/** Safety nets are off: what the snapshots don't find stays lying, and the test sees it. */
describe('a publisher that commits late', () => {
  let rig: Rig
  let node: RunningNode
  /** In no node's process: what it sends is read, and moves the cursor. */
  let outside: Holdfast
  const open: PoolClient[] = []

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
    outside = rig.client()
  })
  afterAll(async () => {
    for (const client of open) client.release(true)
    await rig.stop()
  })

  async function begin(isolation = ''): Promise<PoolClient> {
    const client = await rig.database.pool.connect()
    open.push(client)
    await client.query(`begin ${isolation}`)
    return client
  }

  async function end(client: PoolClient, how: 'commit' | 'rollback'): Promise<void> {
    await client.query(how)
    open.splice(open.indexOf(client), 1)
    client.release()
  }

  /** An endpoint whose handler resolves `arrived(payload)`. */
  async function receiver() {
    const seen: unknown[] = []
    const waiters = new Map<unknown, () => void>()
    const name = await functionEndpoint(node.holdfast, (message) => {
      seen.push(message.payload)
      waiters.get(message.payload)?.()
    })
    const arrived = async (payload: unknown, timeoutMs = 5000) => {
      if (seen.includes(payload)) return
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${String(payload)} never came`)), timeoutMs)
        waiters.set(payload, () => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return { name, seen, arrived }
  }

  it('is found on a lane that thousands have passed meanwhile', async () => {
    const { name, seen, arrived } = await receiver()
    const late = await begin()
    await node.holdfast.send(name, 'late', { client: late })
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 5000 }, (_, index) => ({ payload: index })),
    )
    await rig.whenSettled(name)
    expect(seen).toHaveLength(5000)
    await end(late, 'commit')
    await arrived('late')
    await rig.whenSettled(name)
    expect(seen).toHaveLength(5001)
  })

  it('is found on a lane that never had a message, passed by those of another', async () => {
    const quiet = await receiver()
    const busy = await receiver()
    const late = await begin()
    await node.holdfast.send(quiet.name, 'late', { client: late })
    await outside.send(busy.name, 'first')
    await busy.arrived('first')
    await end(late, 'commit')
    await quiet.arrived('late')
  })

  it('is found when its ids were drawn before those of an older transaction that committed first', async () => {
    const { name, arrived } = await receiver()
    const [older, younger] = [await begin(), await begin()]
    await older.query('select pg_current_xact_id()')
    await node.holdfast.send(name, 'younger', { client: younger })
    await node.holdfast.send(name, 'older', { client: older })
    await end(older, 'commit')
    await arrived('older')
    await end(younger, 'commit')
    await arrived('younger')
  })

  it('is found on an endpoint that it created in the same transaction', async () => {
    const busy = await receiver()
    node.holdfast.handle('newborn', () => undefined)
    const late = await begin()
    await late.query(
      `insert into holdfast_internal.endpoints (name, transport, config, settings)
       select 'newborn', transport, config, settings from holdfast_internal.endpoints where name = $1`,
      [busy.name],
    )
    await node.holdfast.send('newborn', 1, { client: late })
    await outside.send(busy.name, 'passes')
    await busy.arrived('passes')
    await end(late, 'commit')
    await node.log.waitForAttempts('newborn', 1, 5000)
  })

  it('is found when its message is scheduled, and already due when it commits', async () => {
    const quiet = await receiver()
    const busy = await receiver()
    const late = await begin()
    await node.holdfast.send(quiet.name, 'due', {
      client: late,
      deliverAt: new Date(Date.now() + 100),
    })
    await outside.send(busy.name, 'first')
    await busy.arrived('first')
    await late.query('select pg_sleep(0.2)')
    await end(late, 'commit')
    await quiet.arrived('due')
  })

  it('is found when it was due before others of its lane that have been read meanwhile', async () => {
    const { name, arrived } = await receiver()
    const soon = (payload: string, client?: PoolClient) =>
      node.holdfast.send(name, payload, { ...(client && { client }), deliverAt: new Date(Date.now() + 20) })
    await soon('first')
    await arrived('first')
    const late = await begin()
    await soon('late', late)
    await late.query('select pg_sleep(0.1)')
    for (const payload of ['second', 'third']) {
      await soon(payload)
      await arrived(payload)
    }
    await end(late, 'commit')
    await arrived('late')
  })

  it('is found in each of many transactions that overlap in every way, and those that roll back are not', async () => {
    const receivers = await Promise.all(Array.from({ length: 4 }, async () => receiver()))
    const nameOf = (index: number) => receivers[index % receivers.length]!.name
    const clients = await Promise.all(
      Array.from({ length: 16 }, async (_, index) =>
        begin(index % 3 === 0 ? 'isolation level repeatable read' : ''),
      ),
    )
    for (const [index, client] of clients.entries()) {
      if (index % 4 === 0) await client.query('savepoint inner_work')
      await node.holdfast.send(nameOf(index), `first ${index}`, { client })
      await outside.send(nameOf(index), `passes ${index}`)
    }
    const order = clients
      .map((client, index) => ({ client, index }))
      .sort((a, b) => ((a.index * 7) % 16) - ((b.index * 7) % 16))
    for (const { client, index } of order) {
      await node.holdfast.send(nameOf(index), `second ${index}`, { client })
      await end(client, index % 5 === 4 ? 'rollback' : 'commit')
    }
    const committed = order.filter(({ index }) => index % 5 !== 4)
    await Promise.all(
      committed.flatMap(({ index }) => [
        receivers[index % 4]!.arrived(`first ${index}`),
        receivers[index % 4]!.arrived(`second ${index}`),
      ]),
    )
    for (const { name } of receivers) await rig.whenSettled(name)
    const total = receivers.reduce((sum, { seen }) => sum + seen.length, 0)
    expect(total).toBe(16 + committed.length * 2)
  })

  it('to an endpoint that has been deleted gets its deliveries cancelled', async () => {
    const { name } = await receiver()
    const laneId = await rig.laneId(name)
    const late = await begin()
    await node.holdfast.send(name, 'to nobody', { client: late })
    await node.holdfast.endpoints.delete(name, { force: true })
    await rig.heard(node)
    await end(late, 'commit')
    const outcomes = () =>
      rig.rows('select outcome from holdfast_internal.attempts where lane_id = $1', [laneId])
    await expect.poll(outcomes, { timeout: 5000 }).toEqual([{ outcome: 11 }])
    expect(await rig.rows('select from holdfast_internal.deliveries where lane_id = $1', [laneId])).toEqual(
      [],
    )
  })

  it('keeps the count of what is owed right', async () => {
    const { name, arrived } = await receiver()
    for (let round = 0; round < 3; round++) {
      const late = await begin()
      await node.holdfast.send(name, `late ${round}`, { client: late })
      await outside.send(name, `passes ${round}`)
      await arrived(`passes ${round}`)
      await end(late, 'commit')
      await arrived(`late ${round}`)
    }
    await rig.pause(node, name)
    await node.holdfast.sendBatch(name, [{ payload: 'a' }, { payload: 'b' }])
    await expect
      .poll(async () => (await node.holdfast.endpoints.health(name)).pending, { timeout: 5000 })
      .toBe(2)
  })

  it('expires in time behind a pause, though it is scheduled and was never counted', async () => {
    const own = await Rig.create()
    const late = await own.database.pool.connect()
    try {
      const started = await own.start({
        limits: { slowPollMs: 600_000, sweepMs: 100 },
        handlers: { busy: () => {} },
      })
      for (const name of ['busy', 'quiet'])
        await started.holdfast.endpoints.create({ name, transport: 'function' })
      await started.holdfast.endpoints.pause('quiet')
      await late.query('begin')
      const inMs = (delayMs: number) => new Date(Date.now() + delayMs)
      await started.holdfast.send('quiet', 1, { client: late, deliverAt: inMs(100), expiresAt: inMs(200) })
      await own.client().send('busy', 'passes')
      await started.log.waitForAttempts('busy', 1)
      await late.query('commit')
      await own.whenSettled('quiet')
    } finally {
      late.release()
      await own.stop()
    }
  })

  it('is found by a node that starts while the transaction is open', async () => {
    const own = await Rig.create()
    try {
      const client = own.client()
      await client.endpoints.create({ name: 'hook', transport: 'function' })
      const [older, younger] = [await own.database.pool.connect(), await own.database.pool.connect()]
      await older.query('begin; select pg_current_xact_id()')
      await younger.query('begin')
      await client.send('hook', 'younger', { client: younger })
      await client.send('hook', 'older', { client: older })
      await older.query('commit')
      const seen: unknown[] = []
      const started = await own.start({
        limits: withoutSafetyNets,
        handlers: { hook: (message) => void seen.push(message.payload) },
      })
      await started.log.waitForAttempts('hook', 1)
      await younger.query('commit')
      older.release()
      younger.release()
      await started.log.waitForAttempts('hook', 2, 5000)
      expect(seen).toEqual(['older', 'younger'])
    } finally {
      await own.stop()
    }
  })
})
