import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
})
afterAll(() => jobs.stop())

const forget = () => jobs.rig.value<number>('select holdfast_internal.forget_former_queues()')
const former = () =>
  jobs.rig.value<string[]>(
    `select array(select queue.name from unnest(job.former_queue_ids) as lane join holdfast_internal.queues as queue on queue.id = lane order by 1)
     from holdfast_internal.jobs as job where job.name = 'leaving'`,
  )

test('queues that a job has left are looked through in bounded steps, and those with runs of it are kept', async () => {
  await holdfast.jobs.declare(defineJob({ name: 'leaving', queue: 'first' }))
  // The oldest run of all is one of the job, in one of the two queues.
  await holdfast.enqueue('leaving', 1, { delayMs: 3_600_000 })
  await holdfast.jobs.override('leaving', { queue: 'second' })
  await holdfast.jobs.override('leaving', { queue: 'third' })
  await holdfast.jobs.declare(defineJob({ name: 'staying', queue: 'second' }))
  await jobs.rig.rows(
    `insert into holdfast_internal.runs (id, lane_id, job_id, due_at)
     select (select max(id) from holdfast_internal.runs) + place, queue_id, id, now() + interval '1 hour'
     from holdfast_internal.jobs, generate_series(1, 250000) as place where name = 'staying'`,
  )
  await jobs.rig.rows(
    `update holdfast_internal.jobs set moved_at = now() - interval '2 hours', moved_by = '3' where name = 'leaving'`,
  )
  expect(await forget(), 'the oldest 200,000 runs').toBe(0)
  expect(await former()).toEqual(['first', 'second'])
  expect(await forget(), 'the rest').toBe(1)
  expect(await former()).toEqual(['first'])

  await jobs.rig.rows(
    `delete from holdfast_internal.runs where job_id = (select id from holdfast_internal.jobs where name = 'leaving')`,
  )
  expect(await forget()).toBe(0)
  // What it has passed counts for nothing after another move.
  await jobs.rig.rows(
    `insert into holdfast_internal.runs (id, lane_id, job_id, due_at)
     select (select min(id) from holdfast_internal.runs) - 1, former_queue_ids[1], id, now() + interval '1 hour'
     from holdfast_internal.jobs where name = 'leaving'`,
  )
  await jobs.rig.rows(
    `update holdfast_internal.jobs set moved_at = now() - interval '61 minutes' where name = 'leaving'`,
  )
  expect([await forget(), await forget()]).toEqual([0, 0])
  expect(await former()).toEqual(['first'])
})
