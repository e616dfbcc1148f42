import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { retirePartitions } from '../../../src/engine/upkeep/retention-tasks.ts'
import { Database } from '../../../src/storage/database.ts'
import { inTerm } from '../../../src/storage/leadership.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

/** A month that was over long ago, and its ids. */
const oldMonth = '2024_03'
const oldTime = '2024-03-15T12:00:00Z'

describe('the archive', () => {
  let rig: Rig
  let node: RunningNode

  beforeEach(async () => {
    rig = await Rig.create()
    node = await rig.start()
    // The node's own task has had its turn for an hour.
    await until('the first retention', () =>
      rig.value<boolean>(
        `select last_succeeded_at is not null from holdfast_internal.maintenance_tasks where name = 'retention'`,
      ),
    )
    for (const parent of ['messages', 'attempts']) {
      await rig.rows(
        `select holdfast_internal.create_partition($1, $1 || '_${oldMonth}', holdfast_internal.id_at('2024-03-01Z'), holdfast_internal.id_at('2024-04-01Z'))`,
        [parent],
      )
    }
  })
  afterEach(() => rig.stop())

  const partitions = (parent: string) =>
    rig.rows<{ name: string }>(`select name from holdfast_internal.partition_ranges($1) order by 1`, [parent])
  const hasOld = async (parent: string) =>
    (await partitions(parent)).some(({ name }) => name === `${parent}_${oldMonth}`)
  const oldId = (offset: number) =>
    rig.value<number>(`select holdfast_internal.id_at('${oldTime}') + $1`, [offset])

  /** A message of the old month, as if it had been published then. */
  async function oldMessage(offset: number, payload: unknown): Promise<number> {
    const id = await oldId(offset)
    await rig.rows(
      `insert into holdfast_internal.messages (id, created_at, size, type, body) values ($1, '${oldTime}', 2, 'old.event', $2)`,
      [id, JSON.stringify(payload)],
    )
    return id
  }

  const retire = async () => {
    const database = new Database({ pool: rig.database.pool, preparesStatements: false, deadlineMs: 15_000 })
    const [leader] = await rig.rows<{ incarnation: number; term: number }>(
      'select incarnation, term from holdfast_internal.leadership',
    )
    return retirePartitions(
      { fenced: (work) => inTerm(database, leader!, work) },
      new AbortController().signal,
    )
  }

  it('drops old months, and keeps the bodies that are still needed', async () => {
    let isBroken = true
    const taken: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => {
      if (isBroken) throw new PermanentError('not yet')
      taken.push(payload)
    })
    const lane = await rig.laneId(name)
    const [done, owed, fanned, dead, settled] = await Promise.all(
      ['done', 'owed', 'fanned', 'dead', 'settled'].map((payload, offset) => oldMessage(offset, payload)),
    )
    await rig.rows(
      `insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome)
       values ($1, $1, '${oldTime}', 1, 1, $2, 1)`,
      [done, lane],
    )
    await rig.rows(
      `insert into holdfast_internal.deliveries (id, message_id, lane_id, size, due_at) values
         ($1, $1, $3, 2, now() + interval '1 day'), (nextval('holdfast_internal.ids'), $2, $3, 2, now() + interval '1 day')`,
      [owed, fanned, lane],
    )
    await rig.rows(
      `insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, state, settled_at, reason, outcome, criticality, priority, attempt, attempts)
       values ($1::bigint + 100, $1, $1, $3, 'open', null, 'permanent', 3, 1, 0, 1, '[]'),
              ($2::bigint + 100, $2, $2, $3, 'resolved', now(), 'permanent', 3, 1, 0, 1, '[]')`,
      [dead, settled, lane],
    )
    expect(await retire()).toMatchObject({ marked: 2, kept: 3, dropped: 2, waiting: 0 })
    expect([await hasOld('messages'), await hasOld('attempts')]).toEqual([false, false])
    const kept = await rig.rows<{ id: number }>('select id from holdfast_internal.messages_kept order by id')
    expect(kept.map(({ id }) => id)).toEqual([owed, fanned, dead])
    expect(await rig.count('retiring_partitions')).toBe(0)

    isBroken = false
    const letter = (await node.holdfast.deadLetters.list({ endpoint: name, state: 'open' })).data[0]!
    expect((await node.holdfast.deadLetters.get(letter.id)).message?.payload).toBe('dead')
    await node.holdfast.deadLetters.redrive(letter.id)
    await until('the redrive', () => taken.includes('dead'))
    await until(
      'the letter to be settled',
      async () => (await node.holdfast.deadLetters.get(letter.id)).settledAt !== null,
    )

    // Nobody needs that body any more.
    await rig.rows('select holdfast_internal.purge_archive(100)')
    const left = await rig.rows<{ id: number }>('select id from holdfast_internal.messages_kept order by id')
    expect(left.map(({ id }) => id)).toEqual([owed, fanned])
  })

  it('keeps the attempts of what is still owed, so that it dies with its whole history', async () => {
    const name = await functionEndpoint(node.holdfast, () => {
      throw new PermanentError('never')
    })
    await node.holdfast.endpoints.pause(name)
    const lane = await rig.laneId(name)
    const [owed, done] = [await oldMessage(0, 'owed'), await oldMessage(1, 'done')]
    await rig.rows(
      `insert into holdfast_internal.attempts (delivery_id, message_id, started_at, attempt, incarnation, lane_id, outcome, error)
       values ($1, $1, '${oldTime}', 1, 1, $3, 2, 'first'), ($1, $1, '${oldTime}', 2, 1, $3, 2, 'second'), ($2, $2, '${oldTime}', 1, 1, $3, 1, null)`,
      [owed, done, lane],
    )
    await rig.rows(
      `insert into holdfast_internal.deliveries (id, message_id, lane_id, size, attempt, owed_at) values ($1, $1, $2, 2, 2, now())`,
      [owed, lane],
    )
    expect(await retire()).toMatchObject({ dropped: 2 })
    expect(await hasOld('attempts')).toBe(false)
    await rig.rows('select holdfast_internal.purge_archive(100)')
    expect(await rig.rows('select distinct delivery_id as id from holdfast_internal.attempts')).toEqual([
      { id: owed },
    ])
    // A node learns of what is owed when it takes the shard, or when it is told to look again.
    await rig.rows(`select holdfast_internal.tell_nodes('holdfast_lanes', $1)`, [`${lane} recount`])
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    const letter = (await node.holdfast.deadLetters.list({ endpoint: name })).data[0]!
    const { attempts } = await node.holdfast.deadLetters.get(letter.id)
    expect(attempts.map(({ error }) => error)).toEqual(['first', 'second', expect.stringContaining('never')])
  })

  it('keeps the record of what was delivered long after it was accepted, for as long as any other', async () => {
    const name = await functionEndpoint(node.holdfast, () => {})
    await node.holdfast.endpoints.pause(name)
    const id = await oldMessage(0, 'planned long ahead')
    await rig.rows(
      `insert into holdfast_internal.deliveries (id, message_id, lane_id, size, owed_at) values ($1, $1, $2, 2, now())`,
      [id, await rig.laneId(name)],
    )
    await retire()
    await rig.rows(`select holdfast_internal.tell_nodes('holdfast_lanes', $1)`, [
      `${await rig.laneId(name)} recount`,
    ])
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    const deliveryId = await rig.value<string>(`select holdfast.format_id('dlv', $1)`, [id])
    const purge = () => rig.rows('select holdfast_internal.purge_archive(100)')
    await purge()
    expect(await node.holdfast.deliveries.get(deliveryId)).toMatchObject({ state: 'succeeded' })
    await rig.rows(`update holdfast_internal.attempts set started_at = '${oldTime}' where delivery_id = $1`, [
      id,
    ])
    await purge()
    await expect(node.holdfast.deliveries.get(deliveryId)).rejects.toMatchObject({
      code: 'delivery_not_found',
    })
  })

  it('keeps the body for a redrive or a replay that comes while its month is going', async () => {
    const taken: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => void taken.push(payload))
    await rig.pause(node, name)
    const id = await oldMessage(0, 'late')
    const text = await rig.value<string>(`select holdfast.format_id('msg', $1)`, [id])
    await rig.rows('select holdfast_internal.mark_retiring()')
    await rig.rows(`select holdfast_internal.keep_needed('messages_${oldMonth}')`)
    expect(await rig.count('messages_kept')).toBe(0)
    await node.holdfast.replays.one(text, { targetEndpoint: name })
    expect(await rig.count('messages_kept')).toBe(1)
    expect(await retire()).toMatchObject({ dropped: 2 })
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(taken).toEqual(['late'])
  })

  it('marks no month while a replay of it is being stored, and that replay is not lost', async () => {
    const taken: unknown[] = []
    const name = await functionEndpoint(node.holdfast, ({ payload }) => void taken.push(payload))
    await rig.pause(node, name)
    const id = await oldMessage(0, 'in time')
    const replay = await rig.database.pool.connect()
    await replay.query('begin')
    await replay.query(`select holdfast.replay_message(holdfast.format_id('msg', $1), $2)`, [id, name])
    const marking = retire()
    await until('the marking to wait', () =>
      rig.value<boolean>(
        `select exists (select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database()))`,
      ),
    )
    await replay.query('commit')
    replay.release()
    expect(await marking).toMatchObject({ kept: 1, dropped: 2 })
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    expect(taken).toEqual(['in time'])
  })

  it('gives up soon when a lock is held, blocks no other session, and continues later', async () => {
    const name = await functionEndpoint(node.holdfast, () => {})
    const publisher = await rig.database.pool.connect()
    await publisher.query('begin')
    await publisher.query(`select holdfast.send($1, '1')`, [name])
    expect(await retire()).toMatchObject({ waiting: 1 })
    // The others published all the while.
    await node.holdfast.send(name, 2)
    await publisher.query('commit')
    publisher.release()
    expect(await retire()).toMatchObject({ waiting: 0 })
    expect(await hasOld('messages')).toBe(false)
  })

  it('drops the other months if one cannot be dropped', async () => {
    await rig.rows(
      `select holdfast_internal.create_partition('messages', 'messages_2024_04', holdfast_internal.id_at('2024-04-01Z'), holdfast_internal.id_at('2024-05-01Z'))`,
    )
    // Something of the operator's own refers to the older one.
    await rig.rows(`create view old_ones as select * from holdfast_internal.messages_${oldMonth}`)
    await expect(retire()).rejects.toThrow(/depend/)
    expect(await hasOld('messages')).toBe(true)
    expect(await hasOld('attempts')).toBe(false)
    expect((await partitions('messages')).map(({ name }) => name)).not.toContain('messages_2024_04')
  })

  it('is kept for as long as its settings say, table by table', async () => {
    await rig.rows(
      `select holdfast.set_setting('archive_retention_months', '1200'), holdfast.set_setting('attempts_retention_months', '6')`,
    )
    expect(await retire()).toMatchObject({ dropped: 1 })
    expect([await hasOld('messages'), await hasOld('attempts')]).toEqual([true, false])
  })

  it('drops old rows in the default partition', async () => {
    const id = await rig.value<number>(`select holdfast_internal.id_at('2024-01-05Z')`)
    // Owed before it is there: the node's own purge may come in between. To an endpoint that exists: the node cancels what is owed to any other.
    const lane = await rig.laneId(await functionEndpoint(node.holdfast, () => {}))
    await rig.rows(
      `insert into holdfast_internal.deliveries (id, message_id, lane_id, size, due_at) values ($1, $1, $2, 1, now() + interval '1 day')`,
      [id, lane],
    )
    await rig.rows(
      `insert into holdfast_internal.messages (id, size, body) values ($1, 1, '1'), ($1 + 1, 1, '2')`,
      [id],
    )
    await rig.rows('select holdfast_internal.purge_archive(100)')
    expect(await rig.count('messages_default')).toBe(0)
    expect(await rig.count('messages_kept')).toBe(1)
  })

  it('leaves a row that comes while the default partition is purged to the next purge', async () => {
    const id = await rig.value<number>(`select holdfast_internal.id_at('2024-01-05Z')`)
    const lane = await rig.laneId(await functionEndpoint(node.holdfast, () => {}))
    const owed = (offset: number) =>
      rig.rows(
        `with owed as (insert into holdfast_internal.deliveries (id, message_id, lane_id, size, due_at) values ($1, $1, $2, 1, now() + interval '1 day'))
         insert into holdfast_internal.messages (id, size, body) values ($1, 1, '1')`,
        [id + offset, lane],
      )
    await owed(0)
    const holder = await rig.database.pool.connect()
    try {
      await holder.query('begin')
      await holder.query('lock table holdfast_internal.messages_kept')
      const purged = rig.rows('select holdfast_internal.purge_archive(100)')
      await until('the purge to wait for the copy', () =>
        rig.value(
          `select exists (select from pg_locks where relation = 'holdfast_internal.messages_kept'::regclass and not granted)`,
        ),
      )
      await owed(1)
      await holder.query('commit')
      await purged
    } finally {
      holder.release()
    }
    await rig.rows('select holdfast_internal.purge_archive(100)')
    expect([await rig.count('messages_default'), await rig.count('messages_kept')]).toEqual([0, 2])
  })

  it('is cut into weeks or days when the setting says so, without gaps or overlaps', async () => {
    for (const size of ['week', 'day', 'month']) {
      await rig.rows(`select holdfast.set_setting('partition_size', to_jsonb($1::text))`, [size])
      await rig.rows('select holdfast.maintain_partitions($1)', [
        size === 'day' ? 5 : size === 'week' ? 4 : 7,
      ])
    }
    const gaps = await rig.rows(
      `select name from (select name, from_id, lag(to_id) over (order by from_id) as before from holdfast_internal.partition_ranges('messages')
        where from_id > holdfast_internal.id_at('2025-01-01Z')) as part where before <> from_id`,
    )
    expect(gaps).toEqual([])
    expect((await partitions('messages')).some(({ name }) => /_\d{4}_\d{2}_\d{2}$/.test(name))).toBe(true)
    expect(
      await rig.value(
        `select count(*) from holdfast_internal.partition_ranges('attempts') where to_id >= holdfast_internal.id_at((date_trunc('month', now() at time zone 'UTC') + interval '8 months') at time zone 'UTC')`,
      ),
    ).toBe(1)
    await expect(
      rig.rows(`update holdfast_internal.settings set value = '"hour"' where name = 'partition_size'`),
    ).rejects.toMatchObject({ code: 'HF042' })
  })

  it('drops partitions beside readers without a deadlock', async () => {
    const reader = await rig.database.pool.connect()
    const dropper = await rig.database.pool.connect()
    try {
      // A reader locks the table first, its partitions after.
      await reader.query('begin')
      await reader.query('lock table only holdfast_internal.messages in access share mode')
      const { rows } = await dropper.query<{ pid: number }>('select pg_backend_pid() as pid')
      const isWaiting = () =>
        rig.value('select exists (select from pg_locks where pid = $1 and not granted)', [rows[0]?.pid])
      const dropped = dropper.query('select holdfast.drop_old_partitions(6)').then(
        () => 'dropped',
        (error: Error) => error.message,
      )
      await until('the dropper to wait for the table', isWaiting)
      await reader.query('select count(*) from holdfast_internal.messages')
      // Redriving within the same transaction waits for the lock of retirement.
      await reader.query(`select holdfast_internal.keep_bodies('{1}')`)
      await reader.query('commit')
      expect(await dropped).toBe('dropped')
    } finally {
      reader.release(true)
      dropper.release(true)
    }
  })

  it.each([
    ['purging', `select holdfast_internal.purge_archive(10)`, 'messages_default'],
    ['emptying', `select holdfast_internal.empty_partition('messages_${oldMonth}')`, `messages_${oldMonth}`],
  ])('%s a partition locks its table first, as a migration does', async (_, work, part) => {
    await rig.rows('select holdfast_internal.mark_retiring()')
    const migrating = await rig.database.pool.connect()
    try {
      // ALTER TABLE locks a table, and then its partitions one after the other.
      await migrating.query('begin')
      await migrating.query('lock table only holdfast_internal.messages in access exclusive mode')
      const worked = rig.rows(work)
      await until('it to wait', () =>
        rig.value<boolean>(
          `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query = $1)`,
          [work],
        ),
      )
      await migrating.query(`lock table holdfast_internal.${part} in access exclusive mode nowait`)
      await migrating.query('commit')
      await worked
    } finally {
      migrating.release(true)
    }
  })

  it('rejects a retention of zero', async () => {
    // All steps in one transaction, with locks on both tables: beside a node PostgreSQL may have to end one of them as a deadlock.
    await node.holdfast.stop()
    await expect(rig.rows('select holdfast.drop_old_partitions(0)')).rejects.toMatchObject({ code: '22023' })
    expect(await rig.value('select holdfast.drop_old_partitions(6)')).toBe(2)
  })
})
