import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { JobWorker } from '../../../src/jobs/worker.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
let worker: JobWorker
let isBroken = true
const gates: (() => void)[] = []

const flaky = defineJob({
  name: 'flaky',
  retry: { maxRetries: 0 },
  autoDisable: { threshold: 3, windowMs: 60_000, reenableAfterMs: 1000 },
  run: (input) => {
    if (isBroken) throw new PermanentError('broken')
    return { doubled: (input as { n: number }).n * 2 }
  },
})
const held = defineJob({
  name: 'held',
  timeoutMs: 60_000,
  run: () => new Promise<void>((resolve) => gates.push(resolve)),
})

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client({ actor: 'tester' })
  worker = await jobs.work({ jobs: [flaky, held], name: 'fleet-1', tags: ['gpu'], keeper: { sweepMs: 50 } })
})

afterAll(() => jobs.stop())

async function inOpenTransaction(work: () => Promise<void>): Promise<void> {
  const client = await jobs.rig.database.pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_current_xact_id()')
    await work()
    await client.query('commit')
  } finally {
    client.release(true)
  }
}

test('a job is disabled with a reason after its limit of consecutive failures, and enabled after the cooldown', async () => {
  const { id } = await holdfast.enqueue(flaky, { n: 1 })
  for (let n = 2; n <= 3; n++) await holdfast.enqueue(flaky, { n })
  const disabled = await until(
    'it to be disabled',
    () => holdfast.jobs.get('flaky'),
    ({ state }) => state === 'disabled',
  )
  expect(disabled.stateReason).toBe('3 runs failed in a row')
  expect(disabled.reenableAt).not.toBeNull()
  const waiting = await holdfast.enqueue(flaky, { n: 21 })
  expect(await holdfast.runs.get(id)).toMatchObject({
    state: 'failed',
    error: 'PermanentError: broken',
    attempt: 1,
  })
  isBroken = false
  await until(
    'it to be active again',
    () => holdfast.jobs.get('flaky'),
    ({ state }) => state === 'active',
  )
  const done = await until(
    'the run that waited',
    () => holdfast.runs.get(waiting.id),
    ({ state }) => state === 'succeeded',
  )
  expect(done).toMatchObject({ job: 'flaky', result: { doubled: 42 }, payload: { n: 21 }, attempt: 1 })
})

test('a dead letter of a job is redriven like any other, and a success settles it', async () => {
  const [letter] = await jobs.rig.rows<{ id: number }>(
    `select id from holdfast_internal.dead_letters order by id limit 1`,
  )
  const redriven = await jobs.rig.value<string>(
    `select holdfast.redrive_message(holdfast.format_id('dlt', $1))`,
    [letter!.id],
  )
  expect(redriven).toMatch(/^run_/)
  await until(
    'the letter to be settled',
    () =>
      jobs.rig.rows('select state, settled_at from holdfast_internal.dead_letters where id = $1', [
        letter!.id,
      ]),
    ([row]) => row!['state'] === 'redriven' && row!['settled_at'] !== null,
  )
})

test('overrides win over code, survive its next start, and can be taken back', async () => {
  const overridden = await holdfast.jobs.override('flaky', { timeoutMs: 1234, retry: { maxRetries: 9 } })
  expect(overridden).toMatchObject({ timeoutMs: 1234, retry: { maxRetries: 9, strategy: 'exponential' } })
  expect(overridden.overrides).toMatchObject({ timeoutMs: 1234 })
  const next = await jobs.work({ jobs: [defineJob({ name: 'flaky', timeoutMs: 99, run: () => {} })] })
  expect(await holdfast.jobs.get('flaky')).toMatchObject({ timeoutMs: 1234 })
  expect(await holdfast.jobs.override('flaky', { timeoutMs: null, retry: null })).toMatchObject({
    timeoutMs: 99,
    overrides: {},
  })
  await next.stop()
  await expect(holdfast.jobs.override('flaky', { timeoutMs: -1 })).rejects.toMatchObject({
    code: 'invalid_job',
  })
  await expect(holdfast.jobs.override('nobody', {})).rejects.toMatchObject({ code: 'job_not_found' })
  const audited = await jobs.rig.value(
    `select count(*)::int from holdfast_internal.audit_log where actor = 'tester' and action = 'job.updated'`,
  )
  expect(audited).toBe(2)
})

test('a job that moves to another queue is followed there by its workers, and what waits in the old one is not left behind', async () => {
  const ran: unknown[] = []
  const moving = defineJob({ name: 'moving', queue: 'old-place', run: (input) => void ran.push(input) })
  const first = await jobs.work({ jobs: [moving], name: 'follows' })
  await holdfast.jobs.override('moving', { queue: 'new-place' })
  await holdfast.enqueue(moving, 'moved')
  await until('it to run in its new queue', () => ran.includes('moved'))
  await first.stop()
  await holdfast.jobs.override('moving', { queue: 'third-place' })
  await holdfast.jobs.override('moving', { queue: 'new-place' })
  await holdfast.enqueue(moving, 'before the last move')
  await holdfast.jobs.override('moving', { queue: null })
  await jobs.work({ jobs: [moving], name: 'comes later' })
  await until('what waits in the former queue', () => ran.includes('before the last move'))
})

test('runs are listed with who has them, newest first, and a trigger keeps its reason', async () => {
  const { id } = await holdfast.jobs.trigger('held', { payload: { a: 1 }, reason: 'a person asked' })
  const running = await until(
    'it to run',
    () => holdfast.runs.get(id),
    ({ state }) => state === 'running',
  )
  expect(running).toMatchObject({
    job: 'held',
    worker: 'fleet-1',
    payload: { a: 1 },
    metadata: { reason: 'a person asked' },
  })
  const later = await holdfast.enqueue(held, {}, { delayMs: 60_000, correlationId: 'order-17' })
  const listed = await holdfast.runs.list({ job: 'held' })
  expect(listed.map(({ correlationId }) => correlationId)).toEqual(['order-17', running.messageId])
  expect(running.correlationId).toBe(running.messageId)
  expect(listed.map(({ id, state }) => [id, state])).toEqual([
    [later.id, 'scheduled'],
    [id, 'running'],
  ])
  expect(await holdfast.runs.retryNow(later.id)).toBe(true)
  await until(
    'both to run',
    () => gates.length,
    (count) => count === 2,
  )
  for (const gate of gates.splice(0)) gate()
  await until(
    'both to end',
    () => holdfast.runs.list({ job: 'held', state: 'succeeded' }),
    (rows) => rows.length === 2,
  )
  await expect(holdfast.runs.cancel(id)).rejects.toMatchObject({ code: 'run_not_found' })
})

/** That a run is at work, by the note of its worker. */
const untilNoted = (id: string) =>
  until('the note', () =>
    jobs.rig.value<number>(
      `select count(*)::int from holdfast_internal.in_flight where holdfast.parse_id('run', $1) = any (ids)`,
      [id],
    ),
  )

test('a run that a living worker has lost sight of is found, and fails as a zombie; what its worker says later changes nothing', async () => {
  const { id } = await holdfast.enqueue(held, {})
  await until(
    'it to run',
    () => gates.length,
    (count) => count === 1,
  )
  await untilNoted(id)
  // Its time-out is a minute.
  for (const [age, found] of [
    ['50 seconds', 0],
    ['70 seconds', 1],
  ] as const) {
    await jobs.rig.rows('update holdfast_internal.run_claims set claimed_at = now() - $1::interval', [age])
    expect(await jobs.rig.value('select holdfast_internal.sweep_zombies(1000, 100, 0)')).toBe(found)
  }
  const failed = await holdfast.runs.get(id)
  expect(failed).toMatchObject({
    state: 'failed',
    crashes: 1,
    error: 'Zombie detected',
    errorCode: 'zombie_detected',
  })
  expect(failed.attempts).toMatchObject([
    {
      attempt: 1,
      outcome: 'interrupted',
      error: `Recovered from worker "${failed.worker}", which has held it for longer than its time-out and no longer reports it.`,
    },
  ])
  gates.splice(0)[0]!()
  // That it succeeded after all is a fact, and resolves the letter.
  await until(
    'the letter to be resolved',
    () => holdfast.runs.get(id),
    ({ state }) => state === 'succeeded',
  )
})

test('a zombie of a job that says so is queued again, until it has been one as often as it may crash its worker', async () => {
  await holdfast.jobs.override('held', { onZombie: 'requeue', maxCrashes: 2 })
  const { id } = await holdfast.enqueue(held, {})
  const run = await jobs.rig.value<number>(`select holdfast.parse_id('run', $1)`, [id])
  await until('it to begin', () => gates.length)
  await untilNoted(id)
  for (const time of ['first', 'second']) {
    // Its handler is still at work, and isn't started again beside itself.
    await until(`it to be claimed for the ${time} time`, () =>
      jobs.rig.value<number | null>(
        'select holdfast_internal.holder_of_run(id) from holdfast_internal.owed_runs where id = $1',
        [run],
      ),
    )
    await jobs.rig.rows(`update holdfast_internal.run_claims set claimed_at = now() - interval '3 hours'`)
    expect(await jobs.rig.value('select holdfast_internal.sweep_zombies(1000, 100, 0)')).toBe(1)
  }
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'failed', error: 'Zombie detected' })
  expect(gates).toHaveLength(1)
  for (const finish of gates.splice(0)) finish()
  await until(
    'its claims to end',
    () => jobs.rig.count('run_claims'),
    (claims) => claims === 0,
  )
  await holdfast.jobs.override('held', { onZombie: null, maxCrashes: null })
})

test('a stale decision changes nothing: another worker has the run by then', async () => {
  const { id } = await holdfast.enqueue(held, {})
  await until(
    'it to run',
    () => gates.length,
    (count) => count === 1,
  )
  const run = await jobs.rig.value<number>(`select holdfast.parse_id('run', $1)`, [id])
  const claims = await jobs.rig.rows<{ id: number; worker: number }>(
    'select id, worker from holdfast_internal.run_claims',
  )
  expect(claims, 'no claim outlives its runs').toHaveLength(1)
  const [claim] = claims
  const record = (worker: number) =>
    jobs.rig.value<number[] | null>('select holdfast_internal.settle_run_failures($1, $2, $3)', [
      worker,
      JSON.stringify([
        {
          id: run,
          message: run,
          claim: claim!.id,
          lane: 1,
          attempt: 1,
          expected: 0,
          outcome: 2,
          action: 'dead',
          reason: 'stale',
          isTried: false,
        },
      ]),
      [],
    ])
  expect(await record(claim!.worker + 1000)).toEqual([run])
  expect((await holdfast.runs.get(id)).state).toBe('running')
  gates.splice(0)[0]!()
  await jobs.whenDone()
})

test('workers are listed with their heartbeats, and a drained worker claims no more runs', async () => {
  const [listed] = await holdfast.workers.list()
  expect(listed).toMatchObject({
    id: worker.incarnation,
    name: 'fleet-1',
    tags: ['gpu'],
    queues: ['default'],
    state: 'active',
  })
  await holdfast.workers.drain(worker.incarnation)
  await until(
    'it to be draining',
    () => holdfast.workers.list(),
    ([each]) => each!.state === 'draining',
  )
  await holdfast.enqueue(held, {})
  const other = await jobs.work({ jobs: [held], name: 'fleet-2' })
  await until(
    'the other to run it',
    () => other.running,
    (running) => running === 1,
  )
  expect(worker.running).toBe(0)
  gates.splice(0)[0]!()
  await jobs.whenDone()
  await expect(holdfast.workers.drain(999_999)).rejects.toMatchObject({ code: 'worker_not_found' })
})

test('a job that a person disables stays disabled, though a cooldown was running', async () => {
  const cooling = defineJob({ name: 'cooling' })
  await holdfast.jobs.declare(cooling)
  await jobs.rig.rows(
    `select holdfast_internal.set_job_state('cooling', 'disabled', 'too many failures', 'holdfast', 600000)`,
  )
  await holdfast.jobs.disable('cooling', 'until it is mended')
  expect(await holdfast.jobs.get('cooling')).toMatchObject({
    state: 'disabled',
    stateReason: 'until it is mended',
    reenableAt: null,
  })
})

test('a queue says how many runs it owes, since when the oldest waits, and how many succeed in a minute', async () => {
  const letters = defineJob({ name: 'letters', queue: 'post-office', run: () => {} })
  const figures = async () => (await holdfast.queues.list()).find(({ name }) => name === 'post-office')
  const before = new Date()
  for (let n = 0; n < 3; n++) await holdfast.enqueue(letters, { n })
  await holdfast.enqueue(letters, {}, { delayMs: 3_600_000 })
  const waiting = await figures()
  expect(waiting).toMatchObject({ owed: 4, succeededPerMinute: 0 })
  expect(Math.abs(Number(waiting?.oldestWaitingSince) - Number(before))).toBeLessThan(30_000)
  await jobs.work({ jobs: [letters], name: 'postman' })
  const done = await until('them to end', figures, (queue) => queue?.owed === 1)
  expect(done).toMatchObject({ owed: 1, oldestWaitingSince: null, succeededPerMinute: 3 })
})

test('a queue that a job has left is forgotten when nothing of it waits there, and not before', async () => {
  const ran: unknown[] = []
  const leaving = defineJob({ name: 'leaving', queue: 'left-behind', run: (input) => void ran.push(input) })
  await holdfast.jobs.declare(leaving)
  await holdfast.enqueue(leaving, 'left there', { delayMs: 3_600_000 })
  await holdfast.jobs.override('leaving', { queue: 'moved-to' })
  const forget = () => jobs.rig.value('select holdfast_internal.forget_former_queues()')
  const former = () =>
    jobs.rig.value(`select former_queue_ids from holdfast_internal.jobs where name = 'leaving'`)
  const mover = await jobs.work({ jobs: [leaving], name: 'mover' })
  const queues = async () => (await holdfast.workers.list()).find(({ name }) => name === 'mover')!.queues
  expect(await queues()).toEqual(['left-behind', 'moved-to'])
  expect(await forget(), 'just moved: somebody may be enqueueing there').toBe(0)
  await jobs.rig.rows(
    `update holdfast_internal.jobs set moved_at = now() - interval '2 hours' where name = 'leaving'`,
  )
  expect(await forget(), 'a run of it waits there').toBe(0)
  await jobs.rig.rows('delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles')
  await inOpenTransaction(async () => {
    // As if it had begun before the move.
    await jobs.rig.rows(
      `update holdfast_internal.jobs set moved_by = pg_current_xact_id() where name = 'leaving'`,
    )
    expect(await forget(), 'a transaction from before the move has not ended').toBe(0)
  })
  // Transactions of other databases of the server count, too.
  await until('it to be forgotten', forget, (changed) => changed === 1)
  expect(await former()).toEqual([])
  await until('the worker to leave it, too', queues, (names) => names.join() === 'moved-to')
  await holdfast.enqueue(leaving, 'after the move')
  await until('it to run', () => ran.includes('after the move'))
  await mover.stop()
})

test('enabling a job lets claims take what was set aside in the queue that it has left', async () => {
  const away = defineJob({ name: 'away', queue: 'old-home' })
  await holdfast.jobs.declare(away)
  await holdfast.jobs.pause('away')
  await holdfast.enqueue(away, {}, { delayMs: 1 })
  const hand = await jobs.claimByHand('old-home')
  const aside = () =>
    jobs.rig.value<number>('select count(*)::int from holdfast_internal.runs where is_aside')
  await until('a claim to set it aside', async () => (await hand.claim()) === 0 && (await aside()) === 1)
  await holdfast.jobs.override('away', { queue: 'new-home' })
  await holdfast.jobs.enable('away')
  expect(await hand.claim()).toBe(1)
  await jobs.rig.rows(
    'delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles; delete from holdfast_internal.run_claims',
  )
})

test('enabling a job with a long line changes none of its runs: they are claimed from where they wait', async () => {
  const crowded = defineJob({ name: 'crowded', queue: 'crowded' })
  await holdfast.jobs.declare(crowded)
  await holdfast.jobs.pause('crowded')
  await jobs.rig.rows(
    `insert into holdfast_internal.runs (id, lane_id, job_id, due_at, is_aside)
     select nextval('holdfast_internal.ids'), queue_id, id, 'infinity', true
     from holdfast_internal.jobs cross join generate_series(1, 50000) as n where name = 'crowded'`,
  )
  const hand = await jobs.claimByHand('crowded')
  expect(await hand.claim()).toBe(0)
  const versions = () =>
    jobs.rig.value<number>(`select count(distinct xmin::text)::int from holdfast_internal.runs`)
  await jobs.rig.rows(`select holdfast_internal.set_job_state('crowded', 'active')`)
  expect(await versions()).toBe(1)
  expect(await hand.claim()).toBe(10)
  await jobs.rig.rows(
    'delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles; delete from holdfast_internal.run_claims',
  )
})
