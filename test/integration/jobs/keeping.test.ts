import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseId } from '../../../src/core/delivery/ids.ts'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Database } from '../../../src/storage/database.ts'
import { clearLeftovers, reviveRuns, sweepRuns, sweepZombies } from '../../../src/storage/keep-runs.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

const job = defineJob({ name: 'kept' })
const paused = defineJob({ name: 'asleep' })
let jobs: JobsRig
let holdfast: Holdfast
let database: Database

beforeEach(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client({ actor: 'tester' })
  database = new Database({ pool: jobs.rig.database.pool, preparesStatements: true, deadlineMs: 10_000 })
  await holdfast.jobs.declare(job)
  await holdfast.jobs.declare(paused)
})

afterEach(() => jobs.stop())

const parkedIds = async () =>
  (
    await jobs.rig.rows<{ id: string }>(
      `select holdfast.format_id('run', id) as id from holdfast_internal.runs where due_at = 'infinity' order by runs.id`,
    )
  ).map(({ id }) => id)
const park = (ids: readonly string[]) =>
  jobs.rig.rows(
    `update holdfast_internal.runs set due_at = 'infinity', is_aside = false where id = any ($1)`,
    [ids.map((id) => parseId('run', id)!)],
  )
const enqueueLater = async (of: typeof job, total: number) => {
  const delayed = Array.from({ length: total }, () => ({ input: {}, delayMs: 3_600_000 }))
  return (await holdfast.enqueueBatch(of, delayed)).map(({ id }) => id)
}
const heldKeys = async () =>
  (
    await jobs.rig.rows<{ key: string }>('select key from holdfast_internal.idempotency_keys order by key')
  ).map(({ key }) => key)

describe('what was left parked', () => {
  it('comes back, also from behind more parked runs than one look sees', async () => {
    await holdfast.jobs.pause('asleep')
    const asleep = await enqueueLater(paused, 25)
    const stranded = await enqueueLater(job, 3)
    await park([...asleep, ...stranded])
    const look = () => jobs.rig.value<number>('select holdfast_internal.unpark_stranded(10)')
    expect([await look(), await look(), await look()]).toEqual([0, 0, 3])
    expect(await parkedIds()).toEqual(asleep)
    await park(stranded)
    expect([await look(), await look(), await look()], 'around again').toEqual([0, 0, 3])
  })

  it('stays while an older run of its key is there', async () => {
    const first = await holdfast.enqueue(job, {}, { orderingKey: 'k', delayMs: 3_600_000 })
    const second = await holdfast.enqueue(job, {}, { orderingKey: 'k' })
    await park([second.id])
    expect(await jobs.rig.value('select holdfast_internal.unpark_stranded(10)')).toBe(0)
    await holdfast.runs.cancel(first.id)
    await park([second.id])
    expect(await jobs.rig.value('select holdfast_internal.unpark_stranded(10)')).toBe(1)
  })
})

describe('unique keys', () => {
  it('are cleared away when their run has ended, however many are still held before them', async () => {
    const enqueue = (uniqueKey: string) => holdfast.enqueue(job, {}, { uniqueKey, delayMs: 3_600_000 })
    for (const key of ['a', 'b', 'c', 'd']) await enqueue(key)
    const { id } = await enqueue('over')
    await enqueue('z')
    await holdfast.runs.cancel(id)
    const look = () => jobs.rig.value<number>('select holdfast_internal.clear_unique_keys(2)')
    expect([await look(), await look()]).toEqual([0, 0])
    expect(await heldKeys()).toContain('over')
    expect(await look()).toBe(1)
    expect(await heldKeys()).toEqual(['a', 'b', 'c', 'd', 'z'])
  })

  it('of thousands of ended runs are removed in one round', async () => {
    const runs = Array.from({ length: 6000 }, (_, n) => ({ input: n, uniqueKey: `u${n}` }))
    await holdfast.enqueueBatch(job, runs)
    await jobs.rig.rows('delete from holdfast_internal.runs where id % 6 <> 0')
    await clearLeftovers(database)
    expect((await heldKeys()).length).toBe(await jobs.rig.count('runs'))
  })
})

it('reads none of the runs that wait for later, at any round', async () => {
  await jobs.rig.rows(
    `select count(*) from holdfast_internal.accept_runs('kept', array_fill('{}'::text, array[20000]),
       array_fill('{"delayMs": 86400000}'::jsonb, array[20000]))`,
  )
  await jobs.rig.rows('analyze holdfast_internal.runs')
  const readBySequence = async () => {
    await jobs.rig.rows('select pg_stat_force_next_flush()')
    return jobs.rig.value<number>(
      `select sum(seq_tup_read)::int from pg_stat_user_tables where schemaname = 'holdfast_internal' and relname = 'runs'`,
    )
  }
  const before = await readBySequence()
  await sweepRuns(database, 500, 1)
  await sweepZombies(database, 600_000, 500, 1)
  await reviveRuns(database, 20_000)
  await clearLeftovers(database)
  expect(await readBySequence()).toBe(before)
})

it("holds one queue's claims at a time while it looks at all of them", async () => {
  for (const name of ['first', 'second', 'third']) {
    await holdfast.jobs.declare(defineJob({ name, queue: name }))
  }
  const lanes = (
    await jobs.rig.rows<{ id: number }>('select id from holdfast_internal.queues order by id')
  ).map(({ id }) => id)
  const busy = lanes.at(-1)
  const claiming = await jobs.rig.database.pool.connect()
  try {
    await claiming.query('begin')
    await claiming.query(`select pg_advisory_xact_lock(hashtext('holdfast.claims'), $1)`, [busy])
    const reviving = reviveRuns(database, 100)
    await until('it to wait for the busy queue', async () => {
      const waiting = await jobs.rig.rows(
        `select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`,
      )
      return waiting.length === 1
    })
    const held = await jobs.rig.rows<{ lane: number }>(
      `select objid::int as lane from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database()) and classid = (hashtext('holdfast.claims')::bigint & 4294967295)::oid`,
    )
    expect(held).toEqual([{ lane: busy }])
    await claiming.query('commit')
    await reviving
  } finally {
    claiming.release(true)
  }
})
