import type { PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
/** A job in a queue of the same name, and a worker that takes from it; of one test each. */
let name = ''
let lane = 0
let me = 0
let last = 0

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
})
afterAll(() => jobs.stop())

beforeEach(async () => {
  last += 1
  name = `case-${last}`
  await holdfast.jobs.declare(defineJob({ name, queue: name }))
  lane = await jobs.rig.value<number>('select id from holdfast_internal.queues where name = $1', [name])
  me = await addWorker()
})

const addWorker = () =>
  jobs.rig.value<number>(
    `insert into holdfast_internal.workers (incarnation, name, version, host, pid, lanes, concurrency, lease_ms)
     values (nextval('holdfast_internal.incarnations'), 'by hand', '0', 'here', 1, array[$1::int], 1, 600000) returning incarnation`,
    [lane],
  )

interface Accepted {
  readonly run: number
  readonly claim: number | null
}

async function accept(request = 1, body = '"a"'): Promise<Accepted> {
  const [row] = await jobs.rig.rows<Accepted>(
    'select run, claim from holdfast_internal.accept_claimed_run($1, $2, $3, $4)',
    [name, body, me, request],
  )
  return row!
}

const claimed = async (worker: number) =>
  (
    await jobs.rig.rows(
      `select fresh_run_ids, id from holdfast_internal.claim_runs($1, $2, 10, 10, true, 9)`,
      [worker, lane],
    )
  ).filter(({ id, fresh_run_ids: fresh }) => id !== null || fresh !== null).length

const runs = (columns: string) =>
  jobs.rig.rows(
    `select ${columns} from holdfast_internal.owed_runs where job_id = (select id from holdfast_internal.jobs where name = $1)`,
    [name],
  )

async function inTransaction(work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await jobs.rig.database.pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } finally {
    client.release(true)
  }
}

it('stores a run that the worker holds, and that no other worker can claim', async () => {
  const { run, claim } = await accept(7)
  expect(
    await jobs.rig.rows('select worker, request, bundled from holdfast_internal.run_claims where id = $1', [
      claim,
    ]),
  ).toEqual([{ worker: me, request: 7, bundled: `{[${run},${run + 1})}` }])
  expect(await jobs.rig.value('select holdfast_internal.holder_of_run($1)', [run])).toBe(me)
  expect(await jobs.rig.value('select holdfast_internal.count_claimed($1)', [lane])).toBe(1)
  expect(await runs('id, claim_id')).toEqual([{ id: run, claim_id: claim }])
  expect(await claimed(await addWorker())).toBe(0)
})

const override = (changes: object) =>
  jobs.rig.rows('select holdfast_internal.override_job($1, $2)', [name, JSON.stringify(changes)])
const cases: [string, () => Promise<unknown>][] = [
  ['the worker drains', () => jobs.rig.rows('select holdfast_internal.drain_worker($1)', [me])],
  ['the worker is dead', () => jobs.rig.rows('select holdfast_internal.bury_worker($1, 0, 0)', [me])],
  [
    'the worker has given up this request',
    () => jobs.rig.rows('select holdfast_internal.return_claim($1, 1)', [me]),
  ],
  [
    'the worker does not take from the queue',
    () => jobs.rig.rows(`update holdfast_internal.workers set lanes = '{0}'`),
  ],
  ['the job has moved to another queue', () => override({ queue: 'elsewhere' })],
  ['the job is paused', () => holdfast.jobs.pause(name)],
  ['the job is disabled', () => holdfast.jobs.disable(name)],
  ['runs of the job have a priority', () => override({ priority: 2 })],
  ['runs of the job expire', () => override({ expiresAfterMs: 60_000 })],
  [
    'the queue is paused',
    () => jobs.rig.rows(`select holdfast_internal.set_queue_state($1, 'paused')`, [name]),
  ],
  [
    'the queue is bounded',
    () => jobs.rig.rows('select holdfast_internal.set_queue_limits($1, 5, null)', [name]),
  ],
  [
    'the queue has a rate',
    () => jobs.rig.rows('select holdfast_internal.set_queue_limits($1, null, 5)', [name]),
  ],
]
it.each(cases)('stores it like any other run when %s', async (_, prepare) => {
  await prepare()
  const { run, claim } = await accept()
  expect(claim).toBeNull()
  expect(await runs('id, claim_id, due_at')).toEqual([{ id: run, claim_id: null, due_at: null }])
})

it('does not wait for a transaction that takes over the runs of the worker', async () => {
  await inTransaction(async (client) => {
    await client.query('select holdfast_internal.return_claim($1, 0)', [me])
    expect((await accept(1)).claim).toBeNull()
  })
  expect((await accept(2)).claim).not.toBeNull()
})

it.each([
  ['buries the worker', 'select holdfast_internal.bury_worker($1, 0, 0)', 1],
  ['gives the request back', 'select holdfast_internal.return_claim($1, 1)', 0],
  ['retires the worker', 'select holdfast_internal.retire_worker($1)', 0],
])('makes a transaction that %s wait for it', async (_, taking, crashes) => {
  let taken: Promise<unknown> = Promise.resolve()
  await inTransaction(async (client) => {
    await client.query(`select holdfast_internal.accept_claimed_run($1, '1', $2, 1)`, [name, me])
    taken = jobs.rig.value(taking, [me])
    await until('it to wait', () =>
      jobs.rig.value(
        `select count(*)::int from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`,
      ),
    )
  })
  expect(await taken).toBe(1)
  expect(await runs('claim_id, crashes')).toEqual([{ claim_id: null, crashes }])
  expect(await claimed(await addWorker())).toBe(1)
})

it('reports invalid input as other enqueues do', async () => {
  await expect(accept(1, `"${'a'.repeat(1_100_000)}"`)).rejects.toThrow(/payload of run 1 takes/)
  await jobs.rig.rows(
    `update pg_class set reltuples = 1000000 where oid = 'holdfast_internal.deliveries'::regclass`,
  )
  await expect(accept()).rejects.toThrow(/queue is full/)
  await jobs.rig.rows(
    `update pg_class set reltuples = 0 where oid = 'holdfast_internal.deliveries'::regclass`,
  )
  await expect(
    jobs.rig.rows(`select holdfast_internal.accept_claimed_run('not a name', '1', $1, 1)`, [me]),
  ).rejects.toThrow(/name must be 1 to 127 letters/)
})
