import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseId } from '../../../src/core/delivery/ids.ts'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { type HandClaimer, JobsRig } from '../../support/jobs-rig.ts'

const job = defineJob({ name: 'together' })
let jobs: JobsRig
let holdfast: Holdfast

beforeEach(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client({ actor: 'tester' })
})

afterEach(() => jobs.stop())

async function enqueue(total: number): Promise<string[]> {
  const runs = await holdfast.enqueueBatch(
    job,
    Array.from({ length: total }, (_, n) => ({ input: n })),
  )
  return runs.map(({ id }) => id)
}

const bundles = () =>
  jobs.rig.rows<{ first_id: number; last_id: number }>(
    'select first_id, last_id from holdfast_internal.waiting_bundles order by 1',
  )
const rowsOf = (columns: string) => jobs.rig.rows(`select ${columns} from holdfast_internal.runs order by id`)
const numberOf = (id: string) => parseId('run', id)!
const bury = ({ me }: HandClaimer) => jobs.rig.value('select holdfast_internal.bury_worker($1, 0, 0)', [me])
const succeed = async (worker: number, lane: number, ids: readonly string[]) =>
  jobs.rig.rows(
    `select holdfast_internal.settle_run_successes($1, $2::bigint[], (select range_agg(int8range(id, id, '[]')) from unnest($2::bigint[]) as id),
       array(select id from holdfast_internal.run_claims), '{}', array[$3::int], '{1}', '{0}', '{0}', '{}', '{}')`,
    [worker, ids.map(numberOf), lane],
  )
const states = async (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await holdfast.runs.get(id)).state))

describe('runs that are enqueued together', () => {
  it('have one row, and are read as if each had one', async () => {
    const ids = await enqueue(30)
    expect(await bundles()).toEqual([{ first_id: numberOf(ids[0]!), last_id: numberOf(ids[29]!) }])
    expect(await rowsOf('id')).toEqual([])
    expect(await holdfast.runs.get(ids[7]!)).toMatchObject({
      id: ids[7],
      job: 'together',
      state: 'waiting',
      attempt: 0,
      payload: 7,
    })
    const { claim } = await jobs.claimByHand()
    expect(await claim()).toBe(10)
    expect(await states([ids[9]!, ids[10]!])).toEqual(['running', 'waiting'])
    expect(await jobs.owed()).toBe(30)
    const lane = await jobs.rig.value('select lane_id from holdfast_internal.run_bundles')
    expect(await jobs.rig.value('select holdfast_internal.count_owed_runs($1)::int', [lane])).toBe(30)
  })

  it('are listed page by page, the newest first, by job and state', async () => {
    const ids = await enqueue(25)
    const other = await holdfast.enqueueBatch(defineJob({ name: 'other' }), [{ input: 1 }, { input: 2 }])
    const { claim } = await jobs.claimByHand()
    await claim()
    const first = await holdfast.runs.list({ limit: 12 })
    const second = await holdfast.runs.list({ limit: 20, beforeId: first[11]!.id })
    const newest = [...ids, ...other.map(({ id }) => id)].toReversed()
    expect([...first, ...second].map(({ id }) => id)).toEqual(newest)
    expect((await holdfast.runs.list({ job: 'other' })).map(({ id }) => id)).toEqual(newest.slice(0, 2))
    const running = await holdfast.runs.list({ job: 'together', state: 'running', limit: 50 })
    expect(running.map(({ id }) => id)).toEqual(ids.slice(0, 10).toReversed())
    expect(running.every(({ worker }) => worker === 'by hand')).toBe(true)
  })

  it('are listed by job, also where one claim holds more of another job with higher numbers', async () => {
    const ids = await enqueue(2)
    await holdfast.enqueueBatch(
      defineJob({ name: 'other' }),
      Array.from({ length: 8 }, () => ({ input: 1 })),
    )
    const { claim } = await jobs.claimByHand()
    expect(await claim()).toBe(10)
    expect((await holdfast.runs.list({ job: 'together', limit: 1 })).map(({ id }) => id)).toEqual([ids[1]])
  })

  it('are claimed, listed, read and cancelled without unfolding the rest, be it ever so long', async () => {
    const ids = await enqueue(20)
    await jobs.rig.rows('update holdfast_internal.run_bundles set last_id = last_id + 1000000000000')
    const { claim } = await jobs.claimByHand()
    expect(await claim()).toBe(10)
    expect(await states([ids[9]!, ids[10]!])).toEqual(['running', 'waiting'])
    expect(await holdfast.runs.list({ limit: 3 })).toHaveLength(3)
    await holdfast.runs.cancel(ids[15]!)
    expect(await claim()).toBe(10)
    expect(await states([ids[14]!, ids[15]!, ids[16]!])).toEqual(['running', 'cancelled', 'running'])
  })

  it('make as many bundles as it takes when others draw numbers in between', async () => {
    await enqueue(2)
    const stop = new AbortController()
    const drawing = (async () => {
      while (!stop.signal.aborted)
        await jobs.rig.rows(`select count(nextval('holdfast_internal.ids')) from generate_series(1, 20000)`)
    })()
    let enqueued = 2
    const isSplit = async () => {
      await enqueue(5000)
      enqueued += 5000
      return (await bundles()).length > enqueued / 5000 + 1
    }
    await until('numbers to be drawn in between', isSplit)
    stop.abort()
    await drawing
    expect(await jobs.owed()).toBe(enqueued)
    const ran = new Set<unknown>()
    let total = 0
    await jobs.work({
      jobs: [
        job.handledBy((_input, { id }) => {
          ran.add(id)
          total += 1
        }),
      ],
      concurrency: 100,
    })
    await jobs.whenDone()
    expect([ran.size, total]).toEqual([enqueued, enqueued])
  })

  it('run first if their job has a higher priority', async () => {
    await enqueue(3)
    const urgent = defineJob({ name: 'urgent', priority: 2 })
    await holdfast.enqueueBatch(urgent, [{ input: 'now' }, { input: 'now' }])
    const ran: unknown[] = []
    const note = (input: unknown) => void ran.push(input)
    await jobs.work({ jobs: [job.handledBy(note), urgent.handledBy(note)], concurrency: 1 })
    await jobs.whenDone()
    expect(ran).toEqual(['now', 'now', 0, 1, 2])
  })

  it('are rejected if their priority is outside of the range that claims search', async () => {
    await holdfast.jobs.declare(job)
    await jobs.rig.rows(`select holdfast_internal.override_job('together', '{"priority": 4}')`)
    await expect(enqueue(2)).rejects.toThrow('check constraint')
  })
})

describe('one of them', () => {
  it.each([0, 4, 9, 10, 15, 29])(
    'can be cancelled alone while it waits or runs: number %i',
    async (place) => {
      const ids = await enqueue(30)
      const { claim } = await jobs.claimByHand()
      expect(await claim()).toBe(10)
      await holdfast.runs.cancel(ids[place]!)
      const isWaiting = place >= 10
      expect(await states([ids[place]!])).toEqual([isWaiting ? 'cancelled' : 'running'])
      expect(await jobs.owed()).toBe(isWaiting ? 29 : 30)
      const rest: number[] = []
      for (let taken = 1; taken > 0; rest.push(taken)) taken = await claim()
      expect(rest.reduce((sum, taken) => sum + taken, 0)).toBe(isWaiting ? 19 : 20)
    },
  )

  it('that was running at a crash becomes a suspect like any other, and the rest continue', async () => {
    const ids = await enqueue(12)
    const victim = await jobs.claimByHand()
    expect(await victim.claim()).toBe(10)
    expect(await bury(victim)).toBe(10)
    expect(await rowsOf('crashes, claim_id')).toEqual(
      ids.slice(0, 10).map(() => ({ crashes: 1, claim_id: null })),
    )
    expect(await holdfast.runs.get(ids[3]!)).toMatchObject({ state: 'waiting', crashes: 1 })
    const ran: unknown[] = []
    await jobs.work({ jobs: [job.handledBy((input) => void ran.push(input))] })
    await jobs.whenDone()
    expect(ran.toSorted((first, second) => Number(first) - Number(second))).toEqual(
      Array.from({ length: 12 }, (_, n) => n),
    )
  })

  it('that succeeds after its worker was declared dead is not run again', async () => {
    const [id] = await enqueue(5)
    const stale = await jobs.claimByHand()
    await stale.claim()
    const claim = await jobs.rig.value('select id from holdfast_internal.run_claims')
    await bury(stale)
    await jobs.rig.rows(
      `select holdfast_internal.settle_run_successes($1, array[$2::bigint], int8multirange(int8range($2, $2, '[]')), array[$3::bigint], '{}', array[$4::int],
         '{1}', '{0}', '{0}', '{}', '{}')`,
      [stale.me, numberOf(id!), claim, stale.lane],
    )
    expect(await states([id!])).toEqual(['succeeded'])
    expect(await jobs.owed()).toBe(4)
  })

  it('that succeeds although the server lost its claim is not run again', async () => {
    const ids = await enqueue(5)
    const { me, lane, claim } = await jobs.claimByHand()
    await succeed(me, lane, [ids[1]!, ids[2]!, ids[4]!])
    expect(await states(ids)).toEqual(['waiting', 'succeeded', 'succeeded', 'waiting', 'succeeded'])
    expect([await claim(), await jobs.owed()]).toEqual([2, 2])
  })

  it('goes back from a dead worker though its message is gone and its job has moved', async () => {
    await enqueue(3)
    const victim = await jobs.claimByHand()
    await victim.claim()
    await holdfast.jobs.override('together', { queue: 'elsewhere' })
    await jobs.rig.rows('delete from holdfast_internal.messages')
    expect(await bury(victim)).toBe(3)
  })

  it('that its worker lost track of is found', async () => {
    await enqueue(3)
    const { claim, begin } = await jobs.claimByHand()
    await claim()
    await begin()
    await jobs.rig.rows(`update holdfast_internal.run_claims set claimed_at = now() - interval '3 hours'`)
    expect(await jobs.rig.value('select holdfast_internal.sweep_zombies(600000, 100, 0)')).toBe(3)
    expect(await jobs.owed()).toBe(0)
    expect(await jobs.rig.count('dead_letters')).toBe(3)
  })

  it('that is not settled keeps its claim while others of the bundle are settled', async () => {
    await enqueue(3)
    const { me, claim } = await jobs.claimByHand()
    await claim()
    const held = await jobs.rig.value<number>('select id from holdfast_internal.run_claims')
    await jobs.rig.rows(
      `select holdfast_internal.settle_run_successes($1, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', array[$2::bigint])`,
      [me, held],
    )
    await jobs.rig.rows(`select holdfast_internal.settle_run_failures($1, '[]', array[$2::bigint])`, [
      me,
      held,
    ])
    expect(await jobs.owed()).toBe(3)
  })
})

describe('they count', () => {
  it('against the concurrency of their queue', async () => {
    await enqueue(30)
    await jobs.rig.rows(`update holdfast_internal.queues set concurrency = 13 where name = 'default'`)
    const { claim } = await jobs.claimByHand()
    expect([await claim(), await claim(), await claim()]).toEqual([10, 3, 0])
  })

  it('as a success that ends a series of failures', async () => {
    await holdfast.enqueueBatch(job, [])
    await jobs.rig.rows(`update holdfast_internal.jobs set streak = 3, streak_started_at = now()`)
    await enqueue(2)
    await jobs.work({ jobs: [job.handledBy(() => {})] })
    await jobs.whenDone()
    expect(await jobs.rig.value('select streak from holdfast_internal.jobs')).toBe(0)
  })

  it('as a success that ends a series of failures, also in a queue that their job has left', async () => {
    const ids = await enqueue(2)
    const { me, lane, claim } = await jobs.claimByHand()
    await claim()
    await holdfast.jobs.override('together', { queue: 'elsewhere' })
    await jobs.rig.rows(`update holdfast_internal.jobs set streak = 3, streak_started_at = now()`)
    await succeed(me, lane, ids)
    expect(await jobs.rig.value('select streak from holdfast_internal.jobs')).toBe(0)
  })

  it('as a reason to take from a queue that their job has left, but those of other jobs do not', async () => {
    const ids = await enqueue(2)
    await holdfast.enqueueBatch(defineJob({ name: 'other' }), [{ input: 1 }, { input: 2 }])
    const { me, lane, claim } = await jobs.claimByHand()
    await holdfast.jobs.override('together', { queue: 'elsewhere' })
    await jobs.rig.rows(
      `update holdfast_internal.jobs set moved_at = now() - interval '2 hours', moved_by = '3'`,
    )
    const forget = () => jobs.rig.value('select holdfast_internal.forget_former_queues()')
    expect(await forget(), 'they wait there').toBe(0)
    expect(await claim()).toBe(4)
    expect(await forget(), 'somebody holds them').toBe(0)
    await succeed(me, lane, ids)
    expect(await forget()).toBe(1)
  })

  it('as a reason to keep their bodies when their partition goes', async () => {
    const ids = await enqueue(15)
    const { claim } = await jobs.claimByHand()
    await claim()
    const needed = await jobs.rig.rows<{ id: number }>(
      'select id from holdfast_internal.bundled_ids($1, $2) as id',
      [numberOf(ids[5]!), numberOf(ids[14]!)],
    )
    expect(needed.map(({ id }) => id).toSorted((first, second) => first - second)).toEqual(
      ids.slice(5, 14).map(numberOf),
    )
  })
})
