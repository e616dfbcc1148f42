import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

describe('ids and partitions', () => {
  let rig: Rig

  beforeAll(async () => {
    rig = await Rig.create()
    await rig.client().endpoints.create({ name: 'hook', transport: 'function' })
  })
  afterAll(() => rig.stop())

  const partitionsOf = async (parent: string) =>
    (
      await rig.rows<{ name: string }>(
        `select 'holdfast_internal.' || relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = $1::regclass order by 1`,
        [`holdfast_internal.${parent}`],
      )
    ).map(({ name }) => name)
  const month = (ahead: number) =>
    rig.value<string>(
      `select to_char(date_trunc('month', now() at time zone 'UTC') + make_interval(months => $1), 'YYYY_MM')`,
      [ahead],
    )

  it('a message lands in the partition of its month', async () => {
    await rig.rows(`select holdfast.send('hook', '1')`)
    const partition = await rig.value<string>(
      `select 'holdfast_internal.' || relname from holdfast_internal.messages join pg_class on pg_class.oid = messages.tableoid order by messages.id desc limit 1`,
    )
    expect(partition).toBe(`holdfast_internal.messages_${await month(0)}`)
  })

  it('this month and three more are there, and a net for the rest', async () => {
    for (const parent of ['messages', 'attempts']) {
      const expected = await Promise.all(
        [0, 1, 2, 3].map(async (ahead) => `holdfast_internal.${parent}_${await month(ahead)}`),
      )
      expect(await partitionsOf(parent)).toEqual([...expected, `holdfast_internal.${parent}_default`].sort())
    }
  })

  it('an id beyond the last month is caught by the net', async () => {
    const id = await rig.value<number>(`select holdfast_internal.id_at(now() + interval '5 years')`)
    await rig.rows(`insert into holdfast_internal.messages (id, size, body) values ($1, 1, '1')`, [id])
    expect(
      await rig.value(
        `select 'holdfast_internal.' || relname from holdfast_internal.messages join pg_class on pg_class.oid = messages.tableoid where messages.id = $1`,
        [id],
      ),
    ).toBe('holdfast_internal.messages_default')
    await rig.rows('delete from holdfast_internal.messages where id = $1', [id])
  })

  it('upkeep makes what is missing, once, however many try at the same time', async () => {
    const created = await Promise.all(
      Array.from({ length: 8 }, async () =>
        Number(await rig.value('select holdfast.maintain_partitions(6)')),
      ),
    )
    expect(created.reduce((sum, count) => sum + count, 0)).toBe(6)
    expect(await rig.value('select holdfast.maintain_partitions(6)')).toBe(0)
    expect(await partitionsOf('messages')).toHaveLength(8)
  })

  it('upkeep neither waits for an open publisher nor makes others wait', async () => {
    const publisher = await rig.database.pool.connect()
    await publisher.query('begin')
    await publisher.query(`select holdfast.send('hook', '1')`)
    const upkeep = await rig.database.pool.connect()
    await upkeep.query(`begin; set local lock_timeout = '2s'`)
    expect((await upkeep.query('select holdfast.maintain_partitions(8)')).rows).toEqual([
      { maintain_partitions: 4 },
    ])
    const other = await rig.database.pool.connect()
    await other.query(`begin; set local lock_timeout = '2s'`)
    await other.query(`select holdfast.send('hook', '2')`)
    await other.query('commit')
    await upkeep.query('commit')
    await publisher.query('commit')
    for (const client of [publisher, upkeep, other]) client.release()
    expect(await rig.owed('hook')).toBeGreaterThanOrEqual(2)
  })

  it('a partition that upkeep makes has the keys and indexes of the others', async () => {
    const keys = await rig.rows(
      `select count(*)::int as indexes from pg_index where indrelid = any ($1::regclass[]) group by indrelid`,
      [await partitionsOf('attempts')],
    )
    expect(new Set(keys.map((row) => JSON.stringify(row))).size).toBe(1)
  })

  it.each([-1, 121])('upkeep refuses %i months ahead', async (months) => {
    await expect(rig.rows('select holdfast.maintain_partitions($1)', [months])).rejects.toMatchObject({
      code: '22023',
    })
  })

  it('ids follow the clock', async () => {
    const id = await rig.value<number>(
      `select message_id from holdfast_internal.deliveries order by id desc limit 1`,
    )
    const ageMs = await rig.value<number>(
      `select (extract(epoch from now() - holdfast_internal.time_of_id($1)) * 1000)::float8`,
      [id],
    )
    expect(ageMs).toBeLessThan(60_000)
    expect(ageMs).toBeGreaterThan(-1000)
  })

  it('ids never run backwards, whatever the clock does', async () => {
    await rig.rows('delete from holdfast_internal.deliveries; delete from holdfast_internal.messages')
    const ahead = await rig.value<number>(
      `select setval('holdfast_internal.ids', holdfast_internal.id_at(now() + interval '1 hour'))`,
    )
    expect(await rig.value('select holdfast_internal.advance_ids()')).toBe(false)
    expect(await rig.value('select holdfast_internal.advance_ids()')).toBe(false)
    await rig.rows(`select holdfast.send('hook', '1')`)
    const next = await rig.value<number>('select max(id) from holdfast_internal.messages')
    expect(next).toBeGreaterThan(ahead)
    expect(next).toBeLessThan(ahead + 100)
  })

  it('ids are advanced once by many at the same time, and stay unique', async () => {
    await rig.rows(`delete from holdfast_internal.deliveries; delete from holdfast_internal.messages`)
    await rig.rows(
      `select setval('holdfast_internal.ids', holdfast_internal.id_at(now() - interval '1 hour'))`,
    )
    const moved = await Promise.all(
      Array.from({ length: 8 }, () => rig.value<boolean>('select holdfast_internal.advance_ids()')),
    )
    expect(moved.filter(Boolean)).toHaveLength(1)
    await Promise.all(
      Array.from({ length: 20 }, () =>
        rig.rows(`select holdfast.send_batch('hook', array_fill('1'::jsonb, array[50]))`),
      ),
    )
    expect(await rig.owed('hook')).toBe(1000)
  })

  it('ids stay in a month that has its partition when upkeep was missed', async () => {
    const own = await Rig.create()
    try {
      await own.rows(
        `alter table holdfast_internal.messages detach partition holdfast_internal.messages_${await month(0)}`,
      )
      await own.rows(`alter table holdfast_internal.messages_${await month(0)} rename to messages_away`)
      const before = await own.value<number>(
        `select setval('holdfast_internal.ids', holdfast_internal.id_at(now() - interval '40 days'))`,
      )
      expect(await own.value('select holdfast_internal.advance_ids()')).toBe(false)
      expect(await own.value<number>(`select last_value from holdfast_internal.ids`)).toBe(before)
    } finally {
      await own.stop()
    }
  })

  it('a running node keeps partitions ahead', async () => {
    const own = await Rig.create()
    try {
      const last = await month(3)
      await own.rows(
        `drop table holdfast_internal.messages_${last}; drop table holdfast_internal.attempts_${last}`,
      )
      await own.start()
      await until('the month to be back', () =>
        own.value<boolean>(`select to_regclass('holdfast_internal.messages_${last}') is not null`),
      )
    } finally {
      await own.stop()
    }
  })

  it('texts of ids are the same in SQL and in TypeScript', async () => {
    const { formatId, parseId } = await import('../../../src/core/delivery/ids.ts')
    for (const id of [0, 1, 31, 32, 4096, 123_456_789_012, Number.MAX_SAFE_INTEGER]) {
      const text = await rig.value<string>(`select holdfast.format_id('msg', $1)`, [id])
      expect(text).toBe(formatId('msg', id))
      expect(await rig.value(`select holdfast.parse_id('msg', $1)`, [text])).toBe(parseId('msg', text))
    }
    for (const wrong of [
      'msg_',
      'dlv_00000000001',
      'msg_0000000000I',
      'msg_000000000001',
      'MSG_00000000001',
    ]) {
      await expect(rig.rows(`select holdfast.parse_id('msg', $1)`, [wrong])).rejects.toMatchObject({
        code: '22023',
      })
    }
  })
})
