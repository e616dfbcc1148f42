import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'
import { Gate } from '../../support/receivers/gate.ts'

interface Numbered {
  readonly key: string
  readonly number: number
}

describe('an ordering key', () => {
  let rig: Rig
  let node: RunningNode
  const quickRetries = { baseDelayMs: 100, maxDelayMs: 100, jitter: 'none', strategy: 'fixed' } as const
  const neverOpens = { threshold: 1000 }

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: withoutSafetyNets })
  })
  afterAll(() => rig.stop())

  /** Notes when each number of a key starts and ends; `behave` may fail it. */
  async function watched(
    behave: (message: Numbered, attempt: number) => unknown,
    settings: Parameters<typeof functionEndpoint>[2] = {},
  ) {
    const events: {
      readonly key: string
      readonly number: number
      readonly what: 'start' | 'end' | 'fail'
    }[] = []
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        const { key, number } = message.payload as Numbered
        events.push({ key, number, what: 'start' })
        try {
          await behave({ key, number }, message.attempt)
          events.push({ key, number, what: 'end' })
        } catch (error) {
          events.push({ key, number, what: 'fail' })
          throw error
        }
      },
      { circuit: neverOpens, retry: quickRetries, ...settings },
    )
    const send = (key: string, number: number, options = {}) =>
      node.holdfast.send(name, { key, number }, { orderingKey: key, ...options })
    return {
      name,
      events,
      send,
      ended: (key: string) => events.filter((e) => e.key === key && e.what === 'end').map((e) => e.number),
    }
  }

  function expectInOrder(events: Awaited<ReturnType<typeof watched>>['events'], key: string): void {
    let open: number | null = null
    let last = -1
    for (const { number, what } of events.filter((event) => event.key === key)) {
      if (what === 'start') {
        expect(open).toBeNull()
        expect(number).toBeGreaterThanOrEqual(last)
        open = number
      } else {
        open = null
        if (what === 'end') last = number
      }
    }
  }

  it('is delivered strictly in order, over retries, among 64 at once', async () => {
    const { name, events } = await watched(async ({ number }, attempt) => {
      await new Promise((resolve) => setImmediate(resolve))
      if (number % 7 === 3 && attempt === 1) throw new Error('not yet')
    })
    const messages = Array.from({ length: 600 }, (_, index) => ({
      payload: { key: `key-${index % 20}`, number: Math.floor(index / 20) },
      orderingKey: `key-${index % 20}`,
      priority: index % 4,
    }))
    await node.holdfast.sendBatch(name, messages)
    await rig.whenSettled(name, 20_000)
    for (let key = 0; key < 20; key++) {
      expectInOrder(events, `key-${key}`)
      expect(events.filter((event) => event.key === `key-${key}` && event.what === 'end')).toHaveLength(30)
    }
  })

  it('waits for a delayed head, whatever the priority of those behind it', async () => {
    const { name, send, ended } = await watched(() => undefined)
    await send('a', 1, { deliverAt: new Date(Date.now() + 300) })
    await send('a', 2, { priority: 3 })
    await send('a', 3, { deliverAt: new Date(Date.now() + 100), priority: 1 })
    await send('b', 1)
    await until('the other key to pass', () => ended('b').length === 1)
    expect(ended('a')).toEqual([])
    await rig.whenSettled(name)
    expect(ended('a')).toEqual([1, 2, 3])
  })

  it('lets a lower id that was committed late go before those that have not started', async () => {
    const gate = new Gate()
    const { name, send, events } = await watched(({ number }) => (number === 5 ? gate.passed() : undefined))
    const late = await rig.database.pool.connect()
    await late.query('begin')
    await send('a', 1, { client: late })
    await send('a', 5)
    await send('a', 6)
    await until('the younger to start', () => events.length === 1)
    await late.query('commit')
    late.release()
    // The node re-reads within milliseconds; nothing shows it while the key is busy.
    await new Promise((resolve) => setTimeout(resolve, 300))
    gate.open()
    await rig.whenSettled(name)
    expect(events.filter(({ what }) => what === 'end').map(({ number }) => number)).toEqual([5, 1, 6])
  })

  it('is not forgotten when a late older one met a younger that was read but not started, and the line was put back', async () => {
    const gate = new Gate()
    const { name, send, events } = await watched(({ key }) => (key === 'plug' ? gate.passed() : undefined), {
      limits: { concurrency: 1 },
    })
    await send('plug', 1)
    await until('the plug to sit', () => events.length === 1)
    const late = await rig.database.pool.connect()
    await late.query('begin')
    await send('a', 1, { client: late })
    await send('a', 2)
    const laneId = await rig.laneId(name)
    const pending = () =>
      rig.value<number>('select pending from holdfast_internal.lane_stats where lane_id = $1', [laneId])
    await until('the younger to be read', async () => (await pending()) === 2)
    await late.query('commit')
    late.release()
    // Nothing shows when the node has seen the older one.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await rig.pause(node, name)
    gate.open()
    await until('the plug to go', () => events.length === 2)
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(events.filter((e) => e.key === 'a' && e.what === 'end').map(({ number }) => number)).toEqual([
      1, 2,
    ])
  })

  it('is not forgotten when an older one was committed while a younger was out, and the younger is retried', async () => {
    const gate = new Gate()
    const order: number[] = []
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        const { number } = message.payload as Numbered
        order.push(number)
        if (number === 2 && message.attempt === 1) {
          await gate.passed()
          throw new Error('down for a moment')
        }
      },
      { retry: quickRetries, circuit: neverOpens },
    )
    const late = await rig.database.pool.connect()
    await late.query('begin')
    await node.holdfast.send(name, { key: 'k', number: 1 }, { orderingKey: 'k', client: late })
    await node.holdfast.send(name, { key: 'k', number: 2 }, { orderingKey: 'k' })
    await until('the younger one to be out', () => order.length === 1)
    await late.query('commit')
    late.release()
    // A message behind it shows that the late commit has been heard of: arrivals and late ones are read in one go.
    await node.holdfast.send(name, { key: 'other', number: 3 }, { orderingKey: 'other' })
    await until('the message behind', () => order.includes(3))
    gate.open()
    await rig.whenSettled(name)
    expect(order.filter((number) => number !== 3)).toEqual([2, 1, 2])
  })

  it('is not forgotten when an older one was committed while a younger was out, and its result can not be stored', async () => {
    const gate = new Gate()
    const order: number[] = []
    const name = await functionEndpoint(node.holdfast, async (message) => {
      const { number } = message.payload as Numbered
      order.push(number)
      if (number === 2) await gate.passed()
    })
    const late = await rig.database.pool.connect()
    await late.query('begin')
    await node.holdfast.send(name, { key: 'k', number: 1 }, { orderingKey: 'k', client: late })
    const { deliveryId } = await node.holdfast.send(name, { key: 'k', number: 2 }, { orderingKey: 'k' })
    await until('the younger one to be out', () => order.length === 1)
    await rig.rows(`
      create function public.refuse_result() returns trigger language plpgsql as $$
      begin
        raise exception 'not this one';
      end $$`)
    await rig.rows(`
      create trigger refuse_result before insert on holdfast_internal.attempts for each row
      when (new.delivery_id = ${await rig.value<number>(`select holdfast.parse_id('dlv', $1)`, [deliveryId])})
      execute function public.refuse_result()`)
    await late.query('commit')
    late.release()
    await node.holdfast.send(name, { key: 'other', number: 3 }, { orderingKey: 'other' })
    await until('the message behind', () => order.includes(3))
    gate.open()
    await until('the older one', () => order.includes(1))
    // Not by dropping the trigger: PostgreSQL locks the partitions for that in another order than a query does, so that a node may deadlock with it.
    await rig.rows(
      'create or replace function public.refuse_result() returns trigger language plpgsql as $$ begin return new; end $$',
    )
  })

  it('goes on after a dead letter', async () => {
    const { name, send, ended } = await watched(({ number }) => {
      if (number === 1) throw new PermanentError('never')
    })
    await send('a', 1)
    await send('a', 2)
    await send('a', 3)
    await rig.whenSettled(name)
    expect(ended('a')).toEqual([2, 3])
  })

  it('stands still behind a dead letter when the endpoint says so, and other keys do not', async () => {
    const { name, send, ended } = await watched(
      ({ key, number }) => {
        if (key === 'a' && number === 1) throw new PermanentError('never')
      },
      { onDead: 'block' },
    )
    await send('a', 1)
    await send('a', 2)
    for (let number = 1; number <= 50; number++) await send('b', number)
    await until(
      'the other key to be through',
      async () => ended('b').length === 50 && (await rig.owed(name)) === 1,
    )
    expect(ended('a')).toEqual([])
  })

  it('goes on when its head expires', async () => {
    const gate = new Gate()
    const { name, send, ended } = await watched(({ number }) => (number === 0 ? gate.passed() : undefined), {
      limits: { concurrency: 1 },
    })
    await send('plug', 0)
    await send('a', 1, { expiresAt: new Date(Date.now() + 100) })
    await send('a', 2)
    await until('the head to be past its time', () =>
      rig.value<boolean>(
        `select bool_or(expires_at < now() - interval '250 ms') from holdfast_internal.deliveries`,
      ),
    )
    gate.open()
    await rig.whenSettled(name)
    expect(ended('a')).toEqual([2])
  })

  it('with many messages does not starve the other keys', async () => {
    const { name, send, ended } = await watched(() => new Promise((resolve) => setTimeout(resolve, 2)))
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 3000 }, (_, number) => ({ payload: { key: 'hot', number }, orderingKey: 'hot' })),
    )
    await Promise.all(Array.from({ length: 30 }, (_, index) => send(`cold-${index}`, 1)))
    await until('the cold keys to be through', () =>
      Array.from({ length: 30 }, (_, index) => ended(`cold-${index}`)).every(({ length }) => length === 1),
    )
    expect(ended('hot').length).toBeLessThan(1500)
    await node.holdfast.endpoints.pause(name)
  })

  it('goes on when scheduled ones behind it became due long before it was settled', async () => {
    const gate = new Gate()
    const { name, send, ended } = await watched(({ key, number }) =>
      key === 'a' && number === 1 ? gate.passed() : undefined,
    )
    await send('a', 1)
    for (let number = 2; number <= 20; number++)
      await send('a', number, { deliverAt: new Date(Date.now() + 50) })
    await send('b', 1, { deliverAt: new Date(Date.now() + 100) })
    await until('the later schedule to be delivered', () => ended('b').length === 1)
    gate.open()
    await rig.whenSettled(name)
    expect(ended('a')).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  })
})

it('a blocked key continues although its letter was redriven before its owner learned that it was stored', async () => {
  const rig = await Rig.create()
  const proxy = await CuttingProxy.start(rig.database.url)
  try {
    const { holdfast } = await rig.start({ databaseUrl: proxy.url, limits: withoutSafetyNets })
    const client = rig.client()
    const delivered: unknown[] = []
    let isWell = false
    const name = await functionEndpoint(
      holdfast,
      ({ payload }) => {
        if (!isWell) throw new PermanentError('not yet')
        delivered.push(payload)
      },
      { onDead: 'block' },
    )
    // The death is stored at once, but its owner, asking again and again, hears of it a second later.
    const lost = Array.from({ length: 6 }, () => proxy.loseNextAnswer('settle_failures'))
    for (const number of [1, 2]) await client.send(name, number, { orderingKey: 'k' })
    await lost[0]
    isWell = true
    const [letter] = await rig.rows<{ id: string }>(
      `select holdfast.format_id('dlt', id) as id from holdfast_internal.dead_letters`,
    )
    await client.deadLetters.redrive(letter!.id)
    // What arrives later on another lane is read after it: then the redrive has been seen.
    const seen = new Gate()
    const marker = await functionEndpoint(holdfast, () => seen.open())
    await client.send(marker, 'the redrive has been read')
    await seen.passed()
    await Promise.all(lost)
    await rig.whenSettled(name)
    expect(delivered).toEqual([1, 2])
  } finally {
    await rig.stop()
    await proxy.stop()
  }
})

it('a key is blocked by a letter that was given up without another attempt, too', async () => {
  const rig = await Rig.create()
  try {
    const client = rig.client()
    await client.endpoints.create({ name: 'hook', transport: 'function', onDead: 'block' })
    for (const number of [1, 2]) await client.send('hook', number, { orderingKey: 'k' })
    await client.send('hook', 3)
    const ghost = await rig.value<number>(`select holdfast_internal.register_node('ghost', '0')`)
    await rig.rows('update holdfast_internal.shard_leases set incarnation = $1, is_suspect = true', [ghost])
    await rig.rows(
      `insert into holdfast_internal.suspects (delivery_id, lane_id, incarnation, crashes)
       select id, lane_id, $1, 2 from holdfast_internal.deliveries order by id limit 1`,
      [ghost],
    )
    const seen: unknown[] = []
    await rig.start({
      limits: { beatMs: 100, deadAfterMs: 1000, fenceAfterMs: 700 },
      handlers: { hook: ({ payload }) => void seen.push(payload) },
    })
    await until('the one without a key', () => seen.includes(3))
    await until('the letter', async () => (await rig.count('dead_letters')) === 1)
    expect(await rig.rows('select reason, blocks_key from holdfast_internal.dead_letters')).toEqual([
      { reason: 'crashed_its_node', blocks_key: true },
    ])
    expect(seen).toEqual([3])
  } finally {
    await rig.stop()
  }
})
