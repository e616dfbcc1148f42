import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { Database } from '../../../src/storage/database.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'
import { startTransactionPoolingProxy } from '../../support/transaction-pooling-proxy.ts'

/** Safety nets are off: what nobody reads and nobody hands over stays lying, and the test sees it. */
describe('a message that is sent in the process of the node that owns its lane', () => {
  let rig: Rig
  let node: RunningNode
  let listener: Client
  const rung: string[] = []
  const reads = vi.spyOn(Database.prototype, 'queryArrays')

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
    listener = new Client({ connectionString: rig.database.url })
    await listener.connect()
    listener.on('notification', ({ channel }) => rung.push(channel))
    await listener.query(`listen holdfast_node_${node.holdfast.node?.incarnation}`)
  })
  afterEach(() => {
    rung.length = 0
  })
  afterAll(async () => {
    reads.mockRestore()
    await listener.end()
    await rig.stop()
  })

  const arrivalReads = () =>
    reads.mock.calls.filter(([statement]) => statement.name === 'read_arrivals').length

  /** With nothing to do a node stops looking, which takes it a few looks. */
  async function atRest(): Promise<void> {
    let last = -1
    await until(
      'the node to look no more',
      async () => {
        const before = last
        last = arrivalReads()
        await sleep(150)
        return before === last
      },
      (isQuiet) => isQuiet,
    )
    reads.mockClear()
  }

  /** One that the node has met, so that it needs no look at the endpoint. */
  async function receiver(settings: Parameters<typeof functionEndpoint>[2] = {}) {
    const seen: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => void seen.push(payload), settings)
    await node.holdfast.sendBatch(name, [{ payload: 'known' }])
    await rig.whenSettled(name)
    seen.length = 0
    await atRest()
    rung.length = 0
    return { name, seen }
  }

  /** The node has met it, and its first message stays out. */
  async function holdFirst(name: string): Promise<void> {
    await node.holdfast.sendBatch(name, [{ payload: 'known' }])
    await until(
      'it to be out',
      () => node.holdfast.node?.inFlight,
      (count) => count === 1,
    )
    await atRest()
  }

  it('starts without a notification and without a read', async () => {
    const { name, seen } = await receiver()
    for (let number = 1; number <= 20; number++) await node.holdfast.send(name, number)
    await rig.whenSettled(name)
    expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    expect(arrivalReads()).toBe(0)
    await listener.query('select 1')
    expect(rung).toEqual([])
    expect(
      await rig.value(`select count(*)::int from holdfast_internal.attempts where lane_id = $1`, [
        await rig.laneId(name),
      ]),
    ).toBe(21)
  })

  it('looks to its handler like any other', async () => {
    const messages: object[] = []
    const name = await functionEndpoint(node.holdfast, (message) => {
      const { payload, body, type, headers, attempt, correlationId, id } = message
      messages.push({ payload, body, type, headers, attempt, correlationId, id })
    })
    const payload = { text: 'ü', number: 1 }
    const [first] = await node.holdfast.sendBatch(name, [{ payload }])
    await rig.whenSettled(name)
    await atRest()
    const second = await node.holdfast.send(name, payload)
    await rig.whenSettled(name)
    expect(arrivalReads()).toBe(0)
    const [read, handed] = messages
    expect(read).toMatchObject({ id: first?.id, payload, attempt: 1 })
    expect(handed).toEqual({ ...read, id: second.id })
  })

  it('has been committed, and its publisher knows, before it starts', async () => {
    const order: string[] = []
    const { name } = await receiver()
    node.holdfast.handle(name, () => void order.push('handled'))
    await node.holdfast.send(name, 1)
    order.push('sent')
    await rig.whenSettled(name)
    expect(order).toEqual(['sent', 'handled'])
  })

  it('waits in line with the others when the lane is busy, each goes once, and the oldest first', async () => {
    const gate = new Gate()
    const seen: unknown[] = []
    const name = await functionEndpoint(
      node.holdfast,
      async ({ payload }) => {
        seen.push(payload)
        await gate.passed()
      },
      { limits: { concurrency: 1 } },
    )
    for (let number = 0; number < 30; number++) await node.holdfast.send(name, number)
    gate.open()
    await rig.whenSettled(name)
    expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index))
  })

  it('goes once, among hundreds of others that are read', async () => {
    const { name, seen } = await receiver()
    const numbers = Array.from({ length: 600 }, (_, index) => index)
    for (const number of numbers) {
      if (number % 20 === 0) {
        // From outside, so that the node is rung and reads while it is handed others.
        await rig.rows('select holdfast.send($1, to_jsonb($2::int))', [name, number])
      } else {
        await node.holdfast.send(name, number)
      }
    }
    await rig.whenSettled(name)
    expect(seen.toSorted((a, b) => Number(a) - Number(b))).toEqual(numbers)
    await expectNothingOwed(name)
  })

  it('is retried like any other, and counted once', async () => {
    let attempts = 0
    const name = await functionEndpoint(
      node.holdfast,
      () => {
        attempts += 1
        if (attempts % 3 !== 0) throw new Error('not yet')
      },
      { retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none', maxRetries: 10 } },
    )
    await node.holdfast.sendBatch(name, [{ payload: 'known' }])
    await rig.whenSettled(name)
    await atRest()
    for (let number = 0; number < 5; number++) await node.holdfast.send(name, number)
    await rig.whenSettled(name)
    expect(attempts).toBe(18)
    await expectNothingOwed(name)
  })

  it('is kept while the endpoint is paused, also when the pause comes while it is in flight', async () => {
    const gate = new Gate()
    const seen: unknown[] = []
    const name = await functionEndpoint(node.holdfast, async ({ payload }) => {
      await gate.passed()
      seen.push(payload)
    })
    await holdFirst(name)
    await node.holdfast.send(name, 1)
    await node.holdfast.endpoints.pause(name)
    await until(
      'the node to know of the pause',
      async () => {
        await node.holdfast.send(name, 'probe')
        await sleep(20)
        return (await rig.owed(name)) - (node.holdfast.node?.inFlight ?? 0)
      },
      (waiting) => waiting > 0,
    )
    const sent = 1 + (await rig.owed(name))
    gate.open()
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(seen.filter((payload) => payload === 1)).toHaveLength(1)
    expect(seen.length).toBeLessThanOrEqual(sent)
    await expectNothingOwed(name)
  })

  it('is counted as pending while it is in flight', async () => {
    const gate = new Gate()
    const name = await functionEndpoint(node.holdfast, () => gate.passed())
    await holdFirst(name)
    for (let number = 0; number < 4; number++) await node.holdfast.send(name, number)
    const pending = async () => (await node.holdfast.endpoints.health(name)).pending
    await until('all to be reported', pending, (count) => count === 5)
    expect(arrivalReads()).toBe(0)
    // A read that passes them counts none of them twice.
    await node.holdfast.sendBatch(name, [{ payload: 'read' }, { payload: 'too' }])
    await until('the last to be reported', pending, (count) => count === 7)
    await sleep(1200)
    expect(await pending()).toBe(7)
    expect(arrivalReads()).toBeGreaterThan(0)
    gate.open()
    await rig.whenSettled(name)
    await expectNothingOwed(name)
  })

  it('is found by a notification when the response to its insert was lost', async () => {
    const { name, seen } = await receiver()
    const { incarnation } = node.holdfast.node ?? {}
    await rig.rows(`select holdfast_internal.accept($1, array['"lost"'], null, $2)`, [name, incarnation])
    node.holdfast.node?.ring()
    await rig.whenSettled(name)
    expect(seen).toEqual(['lost'])
  })

  async function expectNothingOwed(name: string): Promise<void> {
    await until(
      'the node to report that nothing is owed',
      async () => (await node.holdfast.endpoints.health(name)).pending,
      (pending) => pending === 0,
    )
  }
})

describe('a message that is sent in the process of a node', () => {
  let rig: Rig

  beforeAll(async () => {
    rig = await Rig.create()
  })
  afterAll(() => rig.stop())

  it('notifies the node that owns its lane, if that is another one', async () => {
    const seen: unknown[] = []
    const names = Array.from({ length: 12 }, (_, index) => `there-${index}`)
    const handlers = Object.fromEntries(
      names.map((name) => [name, (message: { payload: unknown }) => void seen.push(message.payload)]),
    )
    const owner = await rig.start({ nodeName: 'owner', limits: withoutSafetyNets, handlers })
    const other = await rig.start({ nodeName: 'other', limits: withoutSafetyNets, handlers })
    for (const name of names) await owner.holdfast.endpoints.create({ name, transport: 'function' })
    // By their own account and by the database's: then no shard is on its way.
    await until(
      'both to have their share',
      async () => {
        const leased = await rig.rows<{ incarnation: number; shards: number }>(
          'select incarnation, count(*)::int as shards from holdfast_internal.shard_leases group by incarnation',
        )
        return [owner, other].map(({ holdfast: { node } }) => {
          const row = leased.find(({ incarnation }) => incarnation === node?.incarnation)
          return row !== undefined && row.shards === node?.shards.length ? row.shards : 0
        })
      },
      (shares) => shares.every((share) => share > 0) && shares.reduce((sum, share) => sum + share, 0) === 256,
    )
    const owned = await rig.rows<{ name: string }>(
      `select name from holdfast_internal.endpoints join holdfast_internal.shard_leases on shard = id & 255 where incarnation = $1`,
      [owner.holdfast.node?.incarnation],
    )
    expect(owned.length).toBeGreaterThan(0)
    for (const { name } of owned) {
      await other.holdfast.send(name, name)
      await rig.whenSettled(name)
    }
    expect(seen).toEqual(owned.map(({ name }) => name))
    await other.holdfast.stop()
    await owner.holdfast.stop()
  })

  it('is not started after that process has paused or disabled its endpoint, although the node got no notification', async () => {
    const proxy = await startTransactionPoolingProxy(rig.database.url, { poolSize: 12 })
    try {
      const seen: unknown[] = []
      // Without notifications, and with rare beats, the node would hear of a change late.
      const { holdfast } = await rig.start({ databaseUrl: proxy.url, limits: { beatMs: 2000 } })
      for (const shut of ['pause', 'disable'] as const) {
        const name = await functionEndpoint(holdfast, ({ payload }) => void seen.push(payload))
        await holdfast.send(name, 'known')
        await rig.whenSettled(name)
        await holdfast.endpoints[shut](name)
        await holdfast.send(name, shut)
        // Whatever was started would have been by the time that another, sent later, has arrived.
        const other = await functionEndpoint(holdfast, () => {})
        await holdfast.send(other, 'later')
        await rig.whenSettled(other)
        expect(seen).toEqual(['known'])
        await holdfast.endpoints.resume(name)
        await rig.whenSettled(name)
        expect(seen.splice(0)).toEqual(['known', shut])
      }
      await holdfast.stop()
    } finally {
      await proxy.stop()
    }
  })

  it('survives the stop of the node', async () => {
    const seen: unknown[] = []
    const handlers = { later: (message: { payload: unknown }) => void seen.push(message.payload) }
    const first = await rig.start({ limits: withoutSafetyNets, handlers })
    await first.holdfast.endpoints.create({ name: 'later', transport: 'function' })
    const sent: Promise<unknown>[] = []
    for (let number = 0; number < 50; number++) {
      sent.push(first.holdfast.send('later', number).catch(() => {}))
      if (number === 25) void first.holdfast.node?.stop()
    }
    await Promise.all(sent)
    const stored = await rig.value<number>(
      `select count(*)::int from holdfast_internal.messages as message where not exists (
         select from holdfast_internal.attempts where attempts.message_id = message.id and outcome = 0)`,
    )
    await first.holdfast.stop()
    const before = seen.length
    const second = await rig.start({ limits: withoutSafetyNets, handlers })
    await rig.whenSettled('later')
    expect(seen.length - before).toBeLessThanOrEqual(stored)
    expect(new Set(seen).size).toBe(50)
    await second.holdfast.stop()
  })
})
