import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readSources } from '../../../src/postgres/sources/source-files.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { Rig, type RunningNode, withoutSafetyNets } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { Gate } from '../../support/receivers/gate.ts'

let rig: Rig
let node: RunningNode
const handled: string[] = []

beforeEach(async () => {
  rig = await Rig.create()
  node = await rig.start({ limits: withoutSafetyNets })
  handled.length = 0
})
afterEach(() => rig.stop())

async function endpoint(name: string, gate?: Gate): Promise<number> {
  node.holdfast.handle(name, async ({ payload }) => {
    await gate?.passed()
    handled.push(`${name} ${String(payload)}`)
  })
  await node.holdfast.endpoints.create({ name, transport: 'function' })
  return rig.laneId(name)
}

/** As a server that lost the row of `id` and gave the id out again. */
async function replaceRow(id: number, lane: number, messageId: number): Promise<void> {
  await rig.rows('update holdfast_internal.deliveries set lane_id = $2, message_id = $3 where id = $1', [
    id,
    lane,
    messageId,
  ])
}

/** As after a crash, for this database alone: the statistics that tell belong to the whole server. */
const newLife = () =>
  rig.rows(
    'create or replace function holdfast_internal.current_life() returns bigint language sql stable as $$ select 1::bigint $$',
  )
const inFlight = (count: number) =>
  until(
    `${count} in flight`,
    () => node.holdfast.node?.inFlight ?? 0,
    (now) => now === count,
  )
const owedIds = () =>
  rig.rows<{ id: number }>('select id, lane_id, attempt from holdfast_internal.deliveries order by id')

describe('a result whose id belongs to another delivery by now', () => {
  for (const outcome of ['succeeds', 'fails', 'is refused for good'] as const) {
    it(`touches nothing when it ${outcome}`, async () => {
      const gate = new Gate()
      node.holdfast.handle('first', async () => {
        await gate.passed()
        if (outcome === 'fails') throw new Error('later')
        if (outcome === 'is refused for good') throw new PermanentError('never')
      })
      await node.holdfast.endpoints.create({ name: 'first', transport: 'function' })
      const second = await endpoint('second')
      await rig.pause(node, 'second')
      const { id } = await node.holdfast.send('first', 1)
      await inFlight(1)
      const [row] = await owedIds()
      await replaceRow(row?.id ?? 0, second, row?.id ?? 0)
      gate.open()
      await node.log.waitForAttempts('first', 1)
      await until('the result to be settled', () => node.holdfast.node?.inFlight === 0)
      await rig.heard(node)
      expect(await owedIds()).toEqual([{ id: row?.id, lane_id: second, attempt: 0 }])
      expect(
        await rig.rows(
          'select from holdfast_internal.attempts where message_id = holdfast.parse_id($1, $2)',
          ['msg', id],
        ),
      ).toEqual([])
      expect(await rig.count('dead_letters')).toBe(0)
      expect(await rig.count('quarantine')).toBe(0)
    })
  }

  it('touches nothing when the lane is the same and the message another', async () => {
    const gate = new Gate()
    const lane = await endpoint('first', gate)
    await node.holdfast.send('first', 1)
    await inFlight(1)
    const [row] = await owedIds()
    await rig.rows(
      `insert into holdfast_internal.messages (id, size, body) values (nextval('holdfast_internal.ids'), 1, '2')`,
    )
    const other = await rig.value<number>('select max(id) from holdfast_internal.messages')
    // Or the other message would be read and delivered, too.
    await rig.pause(node, 'first')
    await replaceRow(row?.id ?? 0, lane, other)
    gate.open()
    await until('the result to be settled', () => node.holdfast.node?.inFlight === 0)
    await rig.heard(node)
    expect(await rig.rows('select message_id from holdfast_internal.deliveries')).toEqual([
      { message_id: other },
    ])
  })
})

describe('a new start of the server', () => {
  it('makes a node read what is owed below its cursor, as after a failover to a standby that lags', async () => {
    const lane = await endpoint('hook')
    await node.holdfast.send('hook', 'settled, and owed again')
    await rig.whenSettled('hook')
    const id = await rig.value<number>('select max(id) from holdfast_internal.messages')
    await node.holdfast.send('hook', 'later')
    await rig.whenSettled('hook')
    await rig.rows('delete from holdfast_internal.attempts where delivery_id = $1', [id])
    await rig.rows(
      'insert into holdfast_internal.deliveries (id, message_id, lane_id, size) values ($1, $1, $2, 1)',
      [id, lane],
    )
    await newLife()
    // Nobody rings: the node polls, because it is awake.
    await rig.whenSettled('hook')
    expect(handled).toEqual(['hook settled, and owed again', 'hook later', 'hook settled, and owed again'])
  })

  it('moves ids past all that may have been given out, before the first is drawn', async () => {
    await endpoint('hook')
    await rig.pause(node, 'hook')
    const sequence = () => rig.value<number>('select last_value from holdfast_internal.ids')
    const before = await sequence()
    await newLife()
    await rig.rows(`select holdfast.send('hook', '1')`)
    const now = await rig.value<number>('select holdfast_internal.id_at(clock_timestamp())')
    expect(await sequence()).toBeGreaterThanOrEqual(before + 4096 * 5000)
    expect(await sequence()).toBeLessThan(now + 4096 * 6000)
  })

  it('moves ids forward although the clock was set back', async () => {
    await endpoint('hook')
    await rig.pause(node, 'hook')
    const ahead = await rig.value<number>(
      `select setval('holdfast_internal.ids', holdfast_internal.id_at(clock_timestamp() + interval '1 hour'))`,
    )
    await newLife()
    await rig.rows(`select holdfast.send('hook', '1')`)
    expect(await rig.value<number>('select last_value from holdfast_internal.ids')).toBeGreaterThan(
      ahead + 4096 * 4999,
    )
  })

  it('moves them once, however many draw at the same time', async () => {
    await endpoint('hook')
    await rig.pause(node, 'hook')
    await newLife()
    await Promise.all(Array.from({ length: 10 }, () => rig.rows(`select holdfast.send('hook', '1')`)))
    const [row] = await rig.rows<{ first: number; last: number }>(
      'select min(id) as first, max(id) as last from holdfast_internal.deliveries',
    )
    expect((row?.last ?? 0) - (row?.first ?? 0)).toBeLessThan(1000)
  })

  it('is begun by everything that draws an id', async () => {
    const { sources } = await readSources()
    const drawers = sources.filter(({ sql }) =>
      /nextval\('holdfast_internal\.ids'\)|insert into holdfast_internal\.(operations|alerts|alert_notices)\b/.test(
        sql,
      ),
    )
    expect(drawers.length).toBeGreaterThan(10)
    const asksItself = (sql: string) => /prepare_ids\(\)|server_life/.test(sql)
    // These are called by accept and accept_run_bodies, which have asked.
    const prepared = ['accept_with_options', 'accept_runs_with_options', 'store_bundles'].map(
      (name) => `holdfast_internal.${name}`,
    )
    expect(
      drawers.filter(({ name, sql }) => !asksItself(sql) && !prepared.includes(name)).map(({ name }) => name),
    ).toEqual([])
  })
})

describe('a session that commits asynchronously', () => {
  it.each([
    [`select holdfast.send('hook', '1')`],
    [`select holdfast.publish('order.created', '1')`],
    [`select holdfast.enqueue('report', '1')`],
    [`select holdfast.enqueue_batch('report', array['1', '2']::jsonb[])`],
  ])('waits for the disk when it calls %s', async (statement) => {
    await endpoint('hook')
    await rig.rows(`select holdfast.declare_job('report', '{"queue": "default"}')`)
    const client = await rig.database.pool.connect()
    try {
      await client.query('begin; set local synchronous_commit = off')
      await client.query(statement)
      expect((await client.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }])
      await client.query('commit')
      expect((await client.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }])
      await client.query(`begin; set local synchronous_commit = local`)
      await client.query(statement)
      expect((await client.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'local' }])
      await client.query('rollback')
    } finally {
      client.release()
    }
  })
})
