import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseId } from '../../../src/core/delivery/ids.ts'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

const job = defineJob({ name: 'in-order', input: z.object({ key: z.string(), n: z.number() }) })
let jobs: JobsRig
let holdfast: Holdfast

beforeEach(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client({ actor: 'tester' })
})

afterEach(() => jobs.stop())

/** Runs that have only an ordering key: one for each letter. */
async function enqueue(keys: string): Promise<string[]> {
  const runs = await holdfast.enqueueBatch(
    job,
    Array.from(keys, (key, n) => ({ input: { key, n }, orderingKey: key })),
  )
  return runs.map(({ id }) => id)
}

const numberOf = (id: string) => parseId('run', id)!
const rowsOf = (columns: string) => jobs.rig.rows(`select ${columns} from holdfast_internal.runs order by id`)
const bundles = () =>
  jobs.rig.rows(
    `select last_id - first_id + 1 as runs, array_to_string(ordering_keys, '') as keys from holdfast_internal.run_bundles order by last_id`,
  )
const keysOf = () =>
  jobs.rig.rows<{ id: number; key: string }>(
    'select id, ordering_key as key from holdfast_internal.owed_runs order by id',
  )

/** What a worker executed, in its order. */
async function executed(): Promise<{ key: string; n: number }[]> {
  const ran: { key: string; n: number }[] = []
  await jobs.work({ jobs: [job.handledBy((input) => void ran.push(input))], concurrency: 20 })
  await jobs.whenDone()
  return ran
}

function expectOrder(ran: readonly { key: string; n: number }[]): void {
  for (const key of new Set(ran.map((run) => run.key))) {
    const numbers = ran.filter((run) => run.key === key).map(({ n }) => n)
    expect(numbers, `runs of ${key}`).toEqual(numbers.toSorted((first, second) => first - second))
  }
}

describe('runs that are enqueued together and have only an ordering key', () => {
  it('share a row with their keys, and are read as if each had one', async () => {
    const ids = await enqueue('abcab')
    expect(await bundles()).toEqual([{ runs: 5, keys: 'abcab' }])
    expect(await rowsOf('id')).toEqual([])
    expect(await keysOf()).toEqual(ids.map((id, place) => ({ id: numberOf(id), key: 'abcab'[place] })))
    expect(await jobs.owed()).toBe(5)
    expect(await holdfast.runs.get(ids[3]!)).toMatchObject({ state: 'waiting', payload: { key: 'a', n: 3 } })
  })

  it('are executed in the order of their key, each once', async () => {
    const keys = 'abcdefgh'.repeat(300)
    await enqueue(keys)
    const ran = await executed()
    expect(ran).toHaveLength(keys.length)
    expectOrder(ran)
  })

  it('get a row each when they are claimed; those whose key is in use wait for it', async () => {
    const ids = await enqueue('aabac')
    const { claim } = await jobs.claimByHand()
    // A worker of the first version, which gets one run of a key at a time.
    expect(await claim()).toBe(3)
    expect(await bundles()).toEqual([])
    expect(
      await rowsOf(
        `id, ordering_key as key, claim_id is not null as "isHeld", due_at = 'infinity' as "isParked"`,
      ),
    ).toEqual(
      ids.map((id, place) => ({
        id: numberOf(id),
        key: 'aabac'[place],
        isHeld: [0, 2, 4].includes(place),
        isParked: [1, 3].includes(place),
      })),
    )
  })

  it('share no row with a run that has no key or another option, or if their job has a priority of its own', async () => {
    await holdfast.enqueueBatch(job, [
      { input: { key: 'a', n: 0 }, orderingKey: 'a' },
      { input: { key: 'a', n: 1 }, orderingKey: 'a', priority: 1 },
    ])
    await holdfast.enqueueBatch(job, [
      { input: { key: 'a', n: 2 }, orderingKey: 'a' },
      { input: { key: 'b', n: 0 } },
      { input: { key: 'a', n: 3 }, orderingKey: 'a' },
    ])
    const urgent = defineJob({ name: 'urgent', priority: 2 })
    await holdfast.jobs.declare(urgent)
    await holdfast.enqueueBatch(urgent, [
      { input: 1, orderingKey: 'u' },
      { input: 2, orderingKey: 'u' },
    ])
    expect(await bundles()).toEqual([])
  })

  it.each([
    ['an empty key', { orderingKey: '' }, 'orderingKey'],
    ['a key that is too long', { orderingKey: 'x'.repeat(256) }, 'orderingKey'],
    ['a key that is a number', { orderingKey: 7 }, 'orderingKey'],
  ])('are refused with %s, as when they have other options', async (_, options, named) => {
    await expect(
      jobs.rig.rows(
        `select holdfast_internal.accept_runs('in-order', array['1', '2'], array[$1::jsonb, '{"orderingKey": "a"}'])`,
        [JSON.stringify(options)],
      ),
    ).rejects.toThrow(named)
    expect(await jobs.owed()).toBe(0)
  })

  it('are split into bundles of at most 1,000', async () => {
    await enqueue('ab'.repeat(1250))
    expect((await bundles()).map(({ runs }) => runs)).toEqual([1000, 1000, 500])
    expectOrder(await executed())
  })
})

describe('within a key, age decides', () => {
  it('before priority: a younger run with a row of its own waits for an older one in a bundle', async () => {
    await enqueue('xyzxyzxyzxyzk')
    const urgent = { input: { key: 'k', n: 100 }, orderingKey: 'k', priority: 3 }
    await holdfast.enqueue(job, urgent.input, urgent)
    const { claim } = await jobs.claimByHand()
    // The urgent run can't be taken: the bundle is unpacked into rows first.
    await claim()
    expect(await bundles()).toEqual([])
    expect(
      await jobs.rig.value(
        'select count(*)::int from holdfast_internal.runs where priority = 3 and claim_id is not null',
      ),
    ).toBe(0)
    expect((await keysOf()).map(({ key }) => key).join('')).toBe('xyzxyzxyzxyzkk')
  })

  it('however bundles and runs with other options follow one another', async () => {
    for (let round = 0; round < 30; round += 1) {
      const n = round * 100
      await holdfast.enqueueBatch(
        job,
        Array.from({ length: 20 }, (_, place) => ({
          input: { key: `k${place % 7}`, n: n + place },
          orderingKey: `k${place % 7}`,
        })),
      )
      const key = `k${round % 7}`
      await holdfast.enqueue(job, { key, n: n + 50 }, { orderingKey: key, priority: round % 4 })
    }
    const ran = await executed()
    expect(ran).toHaveLength(30 * 21)
    expectOrder(ran)
  })

  it('also if a bundle was committed after later runs of its keys were stored', async () => {
    const { pool } = jobs.rig.database
    const client = await pool.connect()
    try {
      await client.query('begin')
      const early = await holdfast.enqueueBatch(
        job,
        [
          { input: { key: 'a', n: 0 }, orderingKey: 'a' },
          { input: { key: 'a', n: 1 }, orderingKey: 'a' },
        ],
        { client },
      )
      await enqueue('bcbc')
      const { claim } = await jobs.claimByHand()
      await claim()
      await client.query('commit')
      // Published after the late ones had been committed: it may not overtake them.
      const [next] = await enqueue('aa')
      const taken: unknown[] = []
      for (let claims = 0; claims < 5 && taken.length === 0; claims += 1) {
        await claim()
        taken.push(
          ...(await jobs.rig.rows(
            `select id from holdfast_internal.runs where ordering_key = 'a' and claim_id is not null`,
          )),
        )
      }
      expect(taken).toEqual([{ id: numberOf(early[0]!.id) }])
      expect(numberOf(next!)).toBeGreaterThan(numberOf(early[1]!.id))
    } finally {
      client.release()
    }
  })

  it('after a crash: the run that was in flight comes first', async () => {
    await enqueue('aaabbb')
    const { claim, me, begin } = await jobs.claimByHand()
    expect(await claim()).toBe(2)
    await begin()
    await jobs.rig.value('select holdfast_internal.bury_worker($1, 0, 0)', [me])
    const ran = await executed()
    expect(ran).toHaveLength(6)
    expectOrder(ran)
  })
})

describe('one of them', () => {
  it.each([0, 2, 5])(
    'can be cancelled while it waits, and the others keep their keys and order: number %i',
    async (place) => {
      const ids = await enqueue('abcabc')
      await holdfast.runs.cancel(ids[place]!)
      const left = Array.from('abcabc', (key, n) => ({ id: numberOf(ids[n]!), key })).filter(
        (_, n) => n !== place,
      )
      expect(await keysOf()).toEqual(left)
      const ran = await executed()
      expect(ran).toHaveLength(5)
      expectOrder(ran)
    },
  )

  it('that waits behind a busy key delays no other: the claim passes it', async () => {
    await enqueue(`${'a'.repeat(3000)}z`)
    const started: string[] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await jobs.work({
      jobs: [
        job.handledBy(async ({ key }) => {
          if (started.push(key) === 1) await held
        }),
      ],
      concurrency: 2,
    })
    await until('the run of the other key', async () => started.includes('z'), Boolean)
    expect(started).toEqual(['a', 'z'])
    release()
    await jobs.whenDone(60_000)
    expect(started).toHaveLength(3001)
  })

  it('whose job is paused is set aside with its key, and its successors wait', async () => {
    await holdfast.jobs.declare(job)
    await enqueue('aabb')
    await holdfast.jobs.pause('in-order')
    const { claim } = await jobs.claimByHand()
    expect(await claim()).toBe(0)
    await holdfast.jobs.enable('in-order')
    const ran = await executed()
    expect(ran).toHaveLength(4)
    expectOrder(ran)
  })
})
