import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
const job = defineJob({ name: 'redriven', autoDisable: { threshold: null } })

beforeEach(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  await holdfast.enqueueBatch(job, [])
})
afterEach(() => jobs.stop())

const numberOf = (id: string) => jobs.rig.value<number>(`select holdfast.parse_id('run', $1)`, [id])

/** A run that was enqueued with these options has failed for good, and is owed again. Returns its new id. */
async function redriven(options: object): Promise<string> {
  const { id } = await holdfast.enqueue(job, { a: 1 }, options)
  await jobs.rig.rows(
    `select holdfast_internal.fail_runs(array[$1::bigint], 'permanent', 'error', 'broken', 0)`,
    [await numberOf(id)],
  )
  return redrive(id)
}

async function redrive(id: string): Promise<string> {
  const letter = await jobs.rig.value<string>(
    `select holdfast.format_id('dlt', id) from holdfast_internal.dead_letters where delivery_id = $1 and state = 'open'`,
    [await numberOf(id)],
  )
  const { deliveryId } = await holdfast.deadLetters.redrive(letter)
  return deliveryId.replace('dlv_', 'run_')
}

test('a redriven run keeps what says how it is run and what it belongs to, and may take as long as it needs', async () => {
  const kept = {
    priority: 2,
    correlationId: 'c-1',
    tags: ['a'],
    headers: { 'x-a': '1' },
    criticality: 'critical',
  }
  const id = await redriven({
    ...kept,
    orderingKey: 'o',
    uniqueKey: 'u',
    expiresAt: new Date(Date.now() + 60_000).toISOString(),
  })
  expect(await holdfast.runs.get(id)).toMatchObject({
    state: 'waiting',
    attempt: 0,
    crashes: 0,
    priority: 2,
    correlationId: 'c-1',
    payload: { a: 1 },
    metadata: { tags: ['a'] },
  })
  expect(
    await jobs.rig.rows(
      'select priority, criticality, ordering_key, expires_at, ttl_at from holdfast_internal.owed_runs',
    ),
  ).toEqual([{ priority: 2, criticality: 2, ordering_key: 'o', expires_at: null, ttl_at: null }])
  const another = await holdfast.enqueue(job, {}, { uniqueKey: 'u' })
  expect(another.id, 'its unique key is free').not.toBe(id)
})

test('redriven runs of one concurrency key still run one at a time', async () => {
  const [first, second] = [
    await redriven({ concurrencyKey: 'tenant' }),
    await redriven({ concurrencyKey: 'tenant' }),
  ]
  const { me, lane, claim } = await jobs.claimByHand()
  expect(await claim()).toBe(1)
  const success = `
    select holdfast_internal.settle_run_successes($1, array[$2::bigint], '{}', '{}', array[message_id], array[$3::int], '{1}', '{0}', '{0}', '{}', '{}')
    from holdfast_internal.runs where id = $2`
  await jobs.rig.rows(success, [me, await numberOf(first), lane])
  expect(await claim()).toBe(1)
  expect(await jobs.rig.rows('select id from holdfast_internal.owed_runs')).toEqual([
    { id: await numberOf(second) },
  ])
})

test('a redriven run is still aimed at its worker or at its tags', async () => {
  await redriven({ worker: 'another' })
  await redriven({ requireTags: ['gpu'] })
  await redriven({ worker: 'by hand' })
  const { claim } = await jobs.claimByHand()
  expect(await claim()).toBe(1)
  expect(
    await jobs.rig.rows('select target from holdfast_internal.owed_runs where claim_id is null order by id'),
  ).toEqual([{ target: 'worker:another' }, { target: 'tags:gpu' }])
})

test('the TTL of a redriven run starts again with its original length', async () => {
  await redriven({ worker: 'another', ttlMs: 60_000 })
  await redriven({ worker: 'another' })
  await redriven({ ttlMs: 90_000 })
  const waits = await jobs.rig.rows<{ left: number }>(
    `select round(extract(epoch from ttl_at - due_at))::int as left from holdfast_internal.owed_runs order by id`,
  )
  expect(waits.map(({ left }) => left)).toEqual([60, 300, 90])
  await jobs.rig.rows(
    `update holdfast_internal.runs set ttl_at = now(), due_at = due_at - interval '6 minutes'`,
  )
  expect(await jobs.rig.value('select holdfast_internal.expire_targets(10, 0)')).toBe(3)
  expect(
    await jobs.rig.rows(
      `select reason from holdfast_internal.dead_letters where state = 'open' and redrives = 1`,
    ),
  ).toEqual(Array.from({ length: 3 }, () => ({ reason: 'worker_queue_ttl_expired' })))
})

test('a redriven run for one worker waits as long as the setting says now', async () => {
  await holdfast.settings.update({ worker_queue_ttl_ms: 45_000 })
  await redriven({ worker: 'another' })
  expect(
    await jobs.rig.value(
      'select round(extract(epoch from ttl_at - due_at))::int from holdfast_internal.owed_runs',
    ),
  ).toBe(45)
})

test('a run that comes back waits for its worker as long as it was given itself, not as long as its job says', async () => {
  const { id } = await holdfast.enqueue(job, {}, { worker: 'by hand', ttlMs: 3_600_000 })
  const { me, claim } = await jobs.claimByHand()
  expect(await claim()).toBe(1)
  await jobs.rig.rows('select holdfast_internal.bury_worker($1, 0, 0)', [me])
  const waitFor = (time: string) =>
    jobs.rig.rows('update holdfast_internal.runs set ttl_at = now(), due_at = now() - $1::interval', [time])
  await waitFor('59 minutes')
  expect(await jobs.rig.value('select holdfast_internal.expire_targets(10, 0)')).toBe(0)
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'waiting', crashes: 1 })
  await waitFor('61 minutes')
  expect(await jobs.rig.value('select holdfast_internal.expire_targets(10, 0)')).toBe(1)
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'failed', error: 'Worker queue TTL expired' })
})

const succeed = (run: number, message: number, me = 0) =>
  jobs.rig.rows(
    `select holdfast_internal.settle_run_successes($1, array[$2::bigint], '{}', '{}', array[$3::bigint], array[lane_id], '{1}', '{0}', '{0}', '{}', '{}')
     from holdfast_internal.dead_letters limit 1`,
    [me, run, message],
  )

test('a success that comes after a redriven run was given up, too, resolves its letter', async () => {
  const again = await redriven({})
  const run = await numberOf(again)
  const message = await jobs.rig.value<number>('select message_id from holdfast_internal.owed_runs')
  await jobs.rig.rows(
    `select holdfast_internal.fail_runs(array[$1::bigint], 'timed_out', 'timed_out', 'slow', 0)`,
    [run],
  )
  const state = () => jobs.rig.rows('select state, action from holdfast_internal.dead_letters')
  expect(await state()).toEqual([{ state: 'open', action: null }])
  await succeed(run, message)
  expect(await state()).toEqual([{ state: 'resolved', action: 'late_success' }])
})

test('a late success cancels a redrive that has not started, and the next run of its key starts', async () => {
  const { id } = await holdfast.enqueue(job, {}, { orderingKey: 'k' })
  const first = await numberOf(id)
  await jobs.rig.rows(
    `select holdfast_internal.fail_runs(array[$1::bigint], 'timed_out', 'timed_out', 'slow', 0)`,
    [first],
  )
  await redrive(id)
  await holdfast.enqueue(job, {}, { orderingKey: 'k' })
  const { me, claim } = await jobs.claimByHand()
  // The redrive waits a while, so that a claim sets the next one aside.
  await jobs.rig.rows(
    `update holdfast_internal.runs set due_at = now() + interval '1 hour' where dead_letter_id is not null`,
  )
  expect(await claim()).toBe(0)
  await succeed(first, first, me)
  expect(await claim()).toBe(1)
  expect(await jobs.rig.rows('select state, action from holdfast_internal.dead_letters')).toEqual([
    { state: 'resolved', action: 'late_success' },
  ])
})
