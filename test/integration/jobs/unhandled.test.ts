import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Database } from '../../../src/storage/database.ts'
import { sweepUnhandled } from '../../../src/storage/keep-runs.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
let database: Database

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  database = new Database({ pool: jobs.rig.database.pool, preparesStatements: true, deadlineMs: 15_000 })
})

afterAll(() => jobs.stop())

const thresholdMs = 600_000
const sweep = () => sweepUnhandled(database, thresholdMs, 100, 1)
/** As if the last check had been eleven minutes earlier. */
const passTime = () =>
  jobs.rig.rows(`update holdfast_internal.jobs set unhandled_since = unhandled_since - interval '11 minutes'`)

/** Enqueues runs of every kind that wait, as if eleven minutes ago. */
async function enqueueOld(name: string): Promise<string[]> {
  const job = defineJob({ name, queue: name, onUnhandled: 'fail' })
  const bundled = await holdfast.enqueueBatch(job, [{ input: 1 }, { input: 2 }, { input: 3 }])
  const others = [
    await holdfast.enqueue(job, 4),
    await holdfast.enqueue(job, 5, { fairKey: 'a' }),
    await holdfast.enqueue(job, 6, { orderingKey: 'k' }),
    await holdfast.enqueue(job, 7, { orderingKey: 'k' }),
    await holdfast.enqueue(job, 8, { concurrencyKey: 'c' }),
  ]
  await jobs.rig.rows(
    `update holdfast_internal.runs set due_at = due_at - interval '11 minutes' where due_at < 'infinity'`,
  )
  return [...bundled, ...others].map(({ id }) => id)
}

/** Numbers of runs have their time: the sweep looks at those of eleven minutes ago. */
async function sweepAll(): Promise<number> {
  return sweepUnhandled(database, 0, 100, 1)
}

beforeEach(async () => {
  await jobs.rig.rows(`update holdfast_internal.jobs set unhandled_since = null`)
})

test('runs of a job that no live worker has fail as zombies where the job says so, and only then', async () => {
  const waiting = await holdfast.enqueue(defineJob({ name: 'patient', queue: 'patient' }), {})
  const ids = await enqueueOld('doomed')
  const later = await holdfast.enqueue('doomed', 9, { delayMs: 3_600_000 })
  expect(await sweep()).toBe(0)
  await passTime()
  // They have not waited for ten minutes themselves.
  expect(await sweep()).toBe(0)
  let failed = 0
  await until('all of them to fail', async () => {
    failed += await sweepAll()
    return failed >= ids.length
  })
  expect(failed).toBe(ids.length)
  for (const id of ids) {
    expect(await holdfast.runs.get(id)).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/^Zombie detected: no live worker has handled the job "doomed" since /),
    })
  }
  expect(await holdfast.runs.get(later.id)).toMatchObject({ state: 'scheduled' })
  expect(await holdfast.runs.get(waiting.id)).toMatchObject({ state: 'waiting', isUnhandled: true })
  expect(await holdfast.jobs.get('doomed')).toMatchObject({ state: 'active', failures: 0 })
})

test('a backlog that a worker serves never fails for waiting, and a worker that joins ends the time', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const job = defineJob({ name: 'served', queue: 'served', onUnhandled: 'fail', run: () => held })
  await holdfast.enqueueBatch(
    job,
    Array.from({ length: 50 }, (_, input) => ({ input })),
  )
  await sweep()
  await passTime()
  const worker = await jobs.work({ jobs: [job], concurrency: 1 })
  expect(await sweepAll()).toBe(0)
  await passTime()
  expect(await sweepAll()).toBe(0)
  expect(await jobs.rig.count('dead_letters')).toBe(8)
  release()
  await worker.stop()
})

test('a check looks through a bounded number of runs, and the next one goes on where it stopped', async () => {
  await jobs.rig.rows('delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles')
  await jobs.rig.rows(`update holdfast_internal.jobs set state = 'disabled'`)
  const job = defineJob({ name: 'deep', queue: 'deep', onUnhandled: 'fail' })
  await holdfast.enqueue(job, 1, { orderingKey: 'k' })
  const busy = defineJob({ name: 'busy', queue: 'busy' })
  await holdfast.enqueue(busy, 1, { delayMs: 3_600_000 })
  // It is older than a quarter of a million runs of another job: ids follow the clock.
  await jobs.rig.rows(
    `update holdfast_internal.runs as run set message_id = run.id, id = holdfast_internal.id_at(now() - interval '1 hour'), due_at = now() - interval '1 hour'
     from holdfast_internal.jobs as job where job.id = run.job_id and job.name = 'deep'`,
  )
  await jobs.rig.rows(
    `insert into holdfast_internal.runs (id, lane_id, job_id, due_at)
     select holdfast_internal.id_at(now() - interval '30 minutes') + place, queue_id, id, now() + interval '1 hour'
     from holdfast_internal.jobs, generate_series(1, 250000) as place where name = 'busy'`,
  )
  await sweep()
  await passTime()
  expect(await sweepAll(), 'the newest 200,000 runs').toBe(0)
  expect(await sweepAll(), 'the rest').toBe(1)
  const letters = `select count(*)::int from holdfast_internal.dead_letters where error like '%"deep"%'`
  expect(await jobs.rig.value(letters)).toBe(1)
  // What has not been seen in one round is seen in the next.
  await enqueueOld('deep')
  let failed = 0
  await until('the newer ones to fail', async () => {
    failed += await sweepAll()
    return failed >= 8
  })
  expect(await jobs.rig.value(letters)).toBe(9)
})
