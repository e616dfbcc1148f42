import { afterEach, describe, expect, it } from 'vitest'
import { preferredOwners } from '../../../src/core/rendezvous.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'

describe('several nodes on one database', () => {
  const rigs: Rig[] = []
  const quick = { beatMs: 100, deadAfterMs: 1000, fenceAfterMs: 700, sweepMs: 600_000, slowPollMs: 600_000 }

  afterEach(async () => {
    for (const rig of rigs.splice(0)) await rig.stop()
  })

  async function createRig(): Promise<Rig> {
    const rig = await Rig.create()
    rigs.push(rig)
    return rig
  }

  async function whenSpread(nodes: readonly RunningNode[], minShards = 41): Promise<void> {
    await until(
      'the shards to be spread',
      () => nodes.map((each) => each.holdfast.node?.shards.length ?? 0),
      (counts) =>
        counts.reduce((sum, count) => sum + count, 0) === 256 && counts.every((count) => count >= minShards),
    )
  }

  async function createLanes(rig: Rig, count: number, limits: object = {}): Promise<string[]> {
    const client = rig.client()
    const names = Array.from({ length: count }, (_, index) => `lane-${index}`)
    for (const name of names) {
      await client.endpoints.create({
        name,
        transport: 'function',
        config: { handler: 'shared', timeoutMs: 60_000 },
        limits,
      })
    }
    return names
  }

  it('share the shards, and each delivery is sent once, by one of them', async () => {
    const rig = await createRig()
    const names = await createLanes(rig, 30)
    const calls = new Map<string, number>()
    const by = [0, 0, 0]
    const nodes = await Promise.all(
      [0, 1, 2].map(async (index) =>
        rig.start({
          nodeName: `node-${index}`,
          limits: quick,
          handlers: {
            shared: (message) => {
              by[index]! += 1
              calls.set(message.deliveryId, (calls.get(message.deliveryId) ?? 0) + 1)
            },
          },
        }),
      ),
    )
    await whenSpread(nodes)
    const client = rig.client()
    await Promise.all(
      names.map(async (name) => {
        for (let batch = 0; batch < 4; batch++) {
          await client.sendBatch(
            name,
            Array.from({ length: 50 }, (_, index) => ({ payload: index })),
          )
        }
      }),
    )
    for (const name of names) await rig.whenSettled(name)
    expect(calls.size).toBe(30 * 200)
    expect([...calls.values()].every((count) => count === 1)).toBe(true)
    expect(by.every((count) => count > 0)).toBe(true)
  })

  it('come and go under load: nothing is lost, nothing is sent twice', async () => {
    const rig = await createRig()
    const names = await createLanes(rig, 20)
    const calls = new Map<string, number>()
    const handlers = {
      shared: async (message: { deliveryId: string }) => {
        calls.set(message.deliveryId, (calls.get(message.deliveryId) ?? 0) + 1)
        await new Promise((resolve) => setTimeout(resolve, 1))
      },
    }
    const client = rig.client()
    let sent = 0
    const load = { isOn: true }
    const publishing = (async () => {
      while (load.isOn) {
        for (const name of names) {
          await client.sendBatch(
            name,
            Array.from({ length: 10 }, (_, index) => ({ payload: index })),
          )
          sent += 10
        }
      }
    })()
    const first = await rig.start({ limits: quick, handlers })
    const second = await rig.start({ limits: quick, handlers })
    await whenSpread([first, second])
    const third = await rig.start({ limits: quick, handlers })
    await whenSpread([first, second, third])
    await first.holdfast.stop()
    await whenSpread([second, third])
    await third.holdfast.stop()
    await until('the last to own all', () => second.holdfast.node?.shards.length === 256)
    load.isOn = false
    await publishing
    for (const name of names) await rig.whenSettled(name, 20_000)
    expect(calls.size).toBe(sent)
    expect([...calls.values()].filter((count) => count > 1)).toEqual([])
    expect(await rig.value('select count(*)::int from holdfast_internal.shard_leases where is_suspect')).toBe(
      0,
    )
  })

  it('notice at once what was published to the former owner and is committed after the takeover', async () => {
    const rig = await createRig()
    const received = { by: [] as string[] }
    const nodeOf = (name: string) =>
      rig.start({ nodeName: name, limits: quick, handlers: { shared: () => void received.by.push(name) } })
    const staying = await nodeOf('staying')
    const leaving = await nodeOf('leaving')
    await whenSpread([staying, leaving])
    const names = await createLanes(rig, 20)
    const owned = new Set(leaving.holdfast.node?.shards)
    const lanes = await Promise.all(names.map(async (name) => ({ name, id: await rig.laneId(name) })))
    const lane = lanes.find(({ id }) => owned.has(id & 255))
    const publisher = await rig.database.pool.connect()
    await publisher.query('begin')
    await publisher.query('select holdfast.send($1, $2)', [lane?.name, '1'])
    await leaving.holdfast.stop()
    await until('the other to own all', () => staying.holdfast.node?.shards.length === 256)
    // It has polled since.
    const other = lanes.find(({ id }) => !owned.has(id & 255))?.name ?? ''
    await rig.client().send(other, 2)
    await rig.whenSettled(other)
    await publisher.query('commit')
    publisher.release()
    await rig.whenSettled(lane?.name ?? '')
    expect(received.by).toEqual(['staying', 'staying'])
  })

  it('hand over nothing that they got back meanwhile, under another name', async () => {
    const rig = await createRig()
    const names = await createLanes(rig, 20)
    const gate = new Gate()
    const first = await rig.start({
      nodeName: 'first',
      limits: quick,
      handlers: { shared: () => gate.passed() },
    })
    const client = rig.client()
    for (const name of names) await client.send(name, 1)
    await until('all to be out', () => first.holdfast.node?.inFlight === names.length)
    const second = await rig.start({
      nodeName: 'second',
      limits: quick,
      handlers: { shared: () => undefined },
    })
    await until('free shards to have gone over', () => (second.holdfast.node?.shards.length ?? 0) > 40)
    // Results that can't be stored keep the rest from being handed over. Then the first is declared dead, wrongly, and comes back.
    const locker = await rig.database.pool.connect()
    await locker.query('begin; lock table holdfast_internal.attempts in share mode')
    gate.open()
    await until('none to be out', () => first.holdfast.node?.inFlight === 0)
    const dead = first.holdfast.node?.incarnation
    await rig.rows(
      'update holdfast_internal.shard_leases set incarnation = null, epoch = epoch + 1 where incarnation = $1',
      [dead],
    )
    await rig.rows('delete from holdfast_internal.nodes where incarnation = $1', [dead])
    await until('it to come back', () => first.holdfast.node?.incarnation !== dead)
    await until('it to have shards again', () => (first.holdfast.node?.shards.length ?? 0) > 40)
    const { releasedShards } = first.log
    await locker.query('rollback')
    locker.release()
    for (const name of names) {
      await client.send(name, 2)
      await rig.whenSettled(name)
    }
    // Two nodes that stay: of what it got back, nothing belongs to the other.
    expect(first.log.releasedShards).toBe(releasedShards)
  })

  it('start nothing on a shard that is being released, not even for a new endpoint', async () => {
    const rig = await createRig()
    const gate = new Gate()
    const by: string[] = []
    // A node that is declared dead takes its shards back under another number: here none is, however busy the machine.
    const limits = { ...quick, deadAfterMs: 60_000, fenceAfterMs: 50_000 }
    const first = await rig.start({
      nodeName: 'first',
      limits,
      handlers: { shared: () => gate.passed(), late: () => void by.push('first') },
    })
    const incarnation = first.holdfast.node?.incarnation ?? 0
    const owners = preferredOwners([incarnation, incarnation + 1])
    const [staying, leaving] = [owners.indexOf(incarnation), owners.indexOf(incarnation + 1)]
    const nextEndpointOn = (shard: number, round: number) =>
      rig.rows(`select setval('holdfast_internal.lanes', $1)`, [256 * round + shard - 1])
    await nextEndpointOn(leaving, 1)
    const [busy] = await createLanes(rig, 1)
    const client = rig.client()
    await client.send(busy!, 1)
    await until('it to be out', () => first.holdfast.node?.inFlight === 1)
    const other = await rig.start({
      nodeName: 'other',
      limits,
      handlers: { shared: () => undefined, late: () => void by.push('other') },
    })
    expect(other.holdfast.node?.incarnation).toBe(incarnation + 1)
    // Its shards come from the first node, which stops all that it will release before it releases any.
    await whenSpread([first, other])
    expect(first.holdfast.node?.shards).toContain(leaving)
    await nextEndpointOn(leaving, 2)
    await client.endpoints.create({ name: 'late', transport: 'function' })
    expect((await rig.laneId('late')) & 255).toBe(leaving)
    await client.send('late', 1)
    // What comes in later, on a shard that stays, is delivered: so this was seen.
    await nextEndpointOn(staying, 3)
    await client.endpoints.create({ name: 'staying', transport: 'function', config: { handler: 'late' } })
    await client.send('staying', 1)
    await rig.whenSettled('staying')
    expect(by).toEqual(['first'])
    gate.open()
    await rig.whenSettled('late')
    expect(by).toEqual(['first', 'other'])
  })

  it('hand a backlog over with order, delays and retries intact', async () => {
    const rig = await createRig()
    const client = rig.client()
    await client.endpoints.create({
      name: 'hook',
      transport: 'function',
      limits: { concurrency: 4 },
      circuit: { threshold: 1000 },
      retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none', maxRetries: 50 },
    })
    const order: number[] = []
    const handlers = {
      hook: async (message: { payload: unknown; attempt: number }) => {
        const number = message.payload as number
        if (number % 10 === 3 && message.attempt === 1) throw new Error('once')
        await new Promise((resolve) => setTimeout(resolve, 1))
        order.push(number)
      },
    }
    await client.sendBatch(
      'hook',
      Array.from({ length: 300 }, (_, index) => ({ payload: index, orderingKey: `key-${index % 3}` })),
    )
    const first = await rig.start({ limits: quick, handlers })
    await first.log.waitForAttempts('hook', 30)
    const second = rig.start({ limits: quick, handlers })
    await until('sixty to be through, whoever owns the lane by now', () => order.length >= 60)
    await first.holdfast.stop()
    await second
    await rig.whenSettled('hook', 20_000)
    for (const key of [0, 1, 2]) {
      const ofKey = order.filter((number) => number % 3 === key)
      expect(ofKey).toEqual([...ofKey].sort((a, b) => a - b))
    }
    expect(order).toHaveLength(300)
  })

  it("keep an endpoint's concurrency over a hand-over", async () => {
    const rig = await createRig()
    const client = rig.client()
    await client.endpoints.create({ name: 'hook', transport: 'function', limits: { concurrency: 3 } })
    let out = 0
    let most = 0
    const handlers = {
      hook: async () => {
        out += 1
        most = Math.max(most, out)
        await new Promise((resolve) => setTimeout(resolve, 5))
        out -= 1
      },
    }
    await client.sendBatch(
      'hook',
      Array.from({ length: 300 }, (_, index) => ({ payload: index })),
    )
    let current = await rig.start({ limits: quick, handlers })
    for (let round = 0; round < 3; round++) {
      const next = await rig.start({ limits: quick, handlers })
      await current.holdfast.stop()
      current = next
    }
    await rig.whenSettled('hook', 20_000)
    expect(most).toBe(3)
  })

  it('send one probe between them', async () => {
    const rig = await createRig()
    const client = rig.client()
    await client.endpoints.create({
      name: 'hook',
      transport: 'function',
      limits: { concurrency: 1 },
      circuit: { threshold: 1, cooldownMs: 1000 },
      retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none', maxRetries: 100 },
    })
    let probes = 0
    let most = 0
    const gate = new Gate()
    let isFirst = true
    const handlers = {
      hook: async () => {
        if (isFirst) {
          isFirst = false
          throw new Error('down')
        }
        probes += 1
        most = Math.max(most, probes)
        await gate.passed()
        probes -= 1
      },
    }
    await client.sendBatch(
      'hook',
      Array.from({ length: 20 }, (_, index) => ({ payload: index })),
    )
    await rig.start({ limits: quick, handlers })
    await rig.start({ limits: quick, handlers })
    const requester = rig.client({ handlers })
    await until('the probe', () => probes === 1)
    await expect(requester.request('hook')).rejects.toMatchObject({ code: 'circuit_open' })
    expect(most).toBe(1)
    gate.open()
    await rig.whenSettled('hook')
  })

  it('finish attempts in flight at a stop, and send nothing twice', async () => {
    const rig = await createRig()
    const gate = new Gate()
    const client = rig.client()
    await client.endpoints.create({ name: 'hook', transport: 'function', limits: { concurrency: 5 } })
    const seen: string[] = []
    const node = await rig.start({
      limits: quick,
      handlers: {
        hook: async (message) => {
          seen.push(message.deliveryId)
          await gate.passed()
        },
      },
    })
    await client.sendBatch(
      'hook',
      Array.from({ length: 20 }, (_, index) => ({ payload: index })),
    )
    await until('five to be out', () => seen.length === 5)
    const stopped = node.holdfast.stop()
    await until('the node to say that it stops', () =>
      rig.value<boolean>('select bool_or(is_stopping) from holdfast_internal.nodes'),
    )
    gate.open()
    await stopped
    expect(seen).toHaveLength(5)
    expect(await rig.owed('hook')).toBe(15)
    expect(await rig.count('nodes')).toBe(0)
    expect(
      await rig.value(
        'select count(*)::int from holdfast_internal.shard_leases where incarnation is not null or is_suspect',
      ),
    ).toBe(0)
    await rig.start({ limits: quick, handlers: { hook: (message) => void seen.push(message.deliveryId) } })
    await rig.whenSettled('hook')
    expect(new Set(seen).size).toBe(20)
    expect(seen).toHaveLength(20)
  })

  it('let a stop abort what outlives its deadline, and keep it owed', async () => {
    const rig = await createRig()
    const client = rig.client()
    await client.endpoints.create({ name: 'hook', transport: 'function', config: { timeoutMs: 60_000 } })
    let signal: AbortSignal | null = null
    const node = await rig.start({
      limits: { ...quick, stopDeadlineMs: 200 },
      handlers: {
        hook: (message) => {
          signal = message.signal
          return new Promise(() => undefined)
        },
      },
    })
    await client.send('hook', 1)
    await until('it to be out', () => signal !== null)
    await node.holdfast.stop()
    expect((signal as unknown as AbortSignal).aborted).toBe(true)
    expect(await rig.rows('select attempt, due_at from holdfast_internal.deliveries')).toEqual([
      { attempt: 0, due_at: null },
    ])
  })

  it('leave no timer behind when they stop', async () => {
    const rig = await createRig()
    const timers = () => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length
    // The test's own pool keeps a timer from its first query on.
    await rig.count('nodes')
    const before = timers()
    const node = await rig.start({ limits: quick, handlers: { hook: () => undefined } })
    await node.holdfast.endpoints.create({ name: 'hook', transport: 'function' })
    await node.holdfast.send('hook', 1)
    await rig.whenSettled('hook')
    await node.holdfast.stop()
    await until('the timers to be gone', timers, (count) => count <= before, 2000)
  })

  it('take a shard again whose taking they never heard the answer to', async () => {
    const rig = await createRig()
    const node = await rig.start({ limits: quick, handlers: { hook: () => undefined } })
    await node.holdfast.endpoints.create({ name: 'hook', transport: 'function' })
    await node.holdfast.send('hook', 1)
    await rig.whenSettled('hook')
    const laneId = await rig.laneId('hook')
    await rig.rows('update holdfast_internal.shard_leases set epoch = epoch + 1 where shard = $1', [
      laneId & 255,
    ])
    await node.holdfast.send('hook', 2)
    await rig.whenSettled('hook', 5000)
  })

  it('take the shards of a node that died, and start them carefully', async () => {
    const rig = await createRig()
    const client = rig.client()
    await client.endpoints.create({ name: 'hook', transport: 'function' })
    await client.sendBatch(
      'hook',
      Array.from({ length: 200 }, (_, index) => ({ payload: index })),
    )
    const ghost = await rig.value<number>(`select holdfast_internal.register_node('ghost', '0')`)
    await rig.rows('update holdfast_internal.shard_leases set incarnation = $1, epoch = epoch + 1', [ghost])
    const node = await rig.start({ limits: quick, handlers: { hook: () => undefined } })
    await rig.whenSettled('hook')
    expect(node.log.taken.some(({ from }) => from === ghost)).toBe(true)
    expect(node.log.of('hook')).toHaveLength(200)
    await until(
      'the suspicion to be cleared',
      async () =>
        (await rig.value('select count(*)::int from holdfast_internal.shard_leases where is_suspect')) ===
          0 && (await rig.count('suspects')) === 0,
    )
    await until('the dead to be buried', async () => (await rig.count('nodes')) === 1)
  })

  it('bring a delivery that was out at three crashes to a dead letter, and the others through', async () => {
    const rig = await createRig()
    const client = rig.client()
    await client.endpoints.create({ name: 'hook', transport: 'function' })
    const [killer] = await client.sendBatch(
      'hook',
      Array.from({ length: 20 }, (_, index) => ({ payload: index })),
    )
    const laneId = await rig.laneId('hook')
    const ghost = await rig.value<number>(`select holdfast_internal.register_node('ghost', '0')`)
    await rig.rows(
      'update holdfast_internal.shard_leases set incarnation = $1, epoch = epoch + 1, is_suspect = true',
      [ghost],
    )
    await rig.rows(
      `insert into holdfast_internal.suspects (delivery_id, lane_id, incarnation, crashes)
       select id, lane_id, $2, 2 from holdfast_internal.deliveries where lane_id = $1 order by id limit 1`,
      [laneId, ghost],
    )
    const seen: string[] = []
    await rig.start({ limits: quick, handlers: { hook: (message) => void seen.push(message.id) } })
    await rig.whenSettled('hook')
    expect(seen).toHaveLength(19)
    expect(seen).not.toContain(killer!.id)
    expect(await rig.rows('select reason from holdfast_internal.dead_letters')).toEqual([
      { reason: 'crashed_its_node' },
    ])
  })

  it('fence themselves while the database is silent, and go on after it', async () => {
    const rig = await createRig()
    const client = rig.client()
    await client.endpoints.create({ name: 'hook', transport: 'function' })
    const node = await rig.start({ limits: quick, handlers: { hook: () => undefined } })
    const blocker = await rig.database.pool.connect()
    await blocker.query('begin; lock table holdfast_internal.nodes in access exclusive mode')
    await until('the fence', () => node.holdfast.node?.isFenced === true)
    await blocker.query('commit')
    blocker.release()
    await until('the fence to be gone', () => node.holdfast.node?.isFenced === false)
    await client.sendBatch(
      'hook',
      Array.from({ length: 50 }, (_, index) => ({ payload: index })),
    )
    await rig.whenSettled('hook')
    expect(node.log.of('hook')).toHaveLength(50)
  })
})
