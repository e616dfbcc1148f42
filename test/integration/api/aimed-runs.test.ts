import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { JobWorker } from '../../../src/jobs/worker.ts'
import type { WorkerOptions } from '../../../src/jobs/worker-options.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'

/** What an operator does to runs, jobs and workers over HTTP. */
let rig: ApiRig
const workers: JobWorker[] = []
const job = defineJob({ name: 'reindex', queue: 'indexes', run: (_input, context) => context.id })

beforeAll(async () => {
  rig = await ApiRig.create()
  await work({ name: 'east', tags: ['gpu'] })
  await work({ name: 'west', tags: ['gpu', 'big'] })
})

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()))
  await rig.stop()
})

async function work(options: Partial<WorkerOptions>): Promise<JobWorker> {
  const worker = new JobWorker({
    databaseUrl: rig.database.url,
    journalFolder: null,
    jobs: [job],
    limits: { heartbeatMs: 50 },
    ...options,
  })
  workers.push(worker)
  await worker.start()
  return worker
}

const trigger = (body: object) => rig.call('POST', '/v1/jobs/reindex/trigger', { body })
const runOf = async (id: string) => (await rig.call('GET', `/v1/runs/${id}`)).body
const ended = (id: string) =>
  until(
    `${id} has ended`,
    () => runOf(id),
    ({ state }) => state === 'succeeded',
  )
const idOf = async (name: string) =>
  (await rig.call('GET', '/v1/workers')).body.data.find((worker: { name: string }) => worker.name === name).id
const listed = async (query: string) =>
  (await rig.call('GET', `/v1/runs?${query}`)).body.data.map(({ id }: { id: string }) => id)

test('a run is aimed at a worker or at tags, and found by who ran it', async () => {
  // Ids, by which runs are found, may be five seconds behind the clock.
  const before = new Date(Date.now() - 10_000).toISOString()
  const toWest = (await trigger({ worker: 'west', correlationId: 'case-7' })).body.id
  const toBig = (await trigger({ requireTags: ['big'], tags: ['urgent'] })).body.id
  const toEast = (await trigger({ worker: 'east', priority: 3, reason: 'by hand' })).body.id
  for (const [id, worker] of [
    [toWest, 'west'],
    [toBig, 'west'],
    [toEast, 'east'],
  ]) {
    expect(await ended(id)).toMatchObject({ worker })
  }
  expect(await listed('worker=east')).toEqual([toEast])
  expect(await listed('worker=west')).toEqual([toBig, toWest])
  expect(await listed('tag=urgent')).toEqual([toBig])
  expect(await listed('tag=big')).toEqual([toBig])
  expect(await listed('correlationId=case-7')).toEqual([toWest])
  expect(await listed(`from=${before}&worker=east`)).toEqual([toEast])
  expect(await listed(`to=${before}`)).toEqual([])
  const refused = await trigger({ worker: 'west', requireTags: ['big'] })
  expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_options' } })
  expect(refused.body.detail).toContain('requireTags: cannot be combined with worker')
})

test('an undrained worker claims runs again', async () => {
  const id = await idOf('west')
  const path = `/v1/workers/${id}`
  expect((await rig.call('POST', `${path}/undrain`)).body).toMatchObject({
    code: 'worker_not_found',
    detail: `There is no draining worker ${id}. List them with: holdfast workers list`,
  })
  expect((await rig.call('POST', `${path}/drain`)).status).toBe(204)
  const run = (await trigger({ worker: 'west' })).body.id
  const other = (await trigger({ worker: 'east' })).body.id
  await ended(other)
  expect(await runOf(run)).toMatchObject({ state: 'waiting' })
  expect((await rig.call('POST', `${path}/undrain`)).status).toBe(204)
  expect(await ended(run)).toMatchObject({ worker: 'west' })
  const { body } = await rig.call('GET', `/v1/audit?action=worker.undrained`)
  expect(body.data).toMatchObject([{ subject: `worker:${id}` }])
})

test('a job can be deleted once it has no unfinished runs, and the history of its runs is kept', async () => {
  await rig.call('POST', '/v1/jobs', { body: { name: 'old-report', queue: 'reports', cron: '0 3 * * *' } })
  const run = (await rig.call('POST', '/v1/jobs/old-report/trigger', { body: {} })).body.id
  const other = (await trigger({ delayMs: 3_600_000 })).body.id
  const refused = await rig.call('DELETE', '/v1/jobs/old-report')
  expect(refused).toMatchObject({ status: 409, body: { code: 'still_owed' } })
  expect(refused.body.detail).toContain(`still has unfinished runs, for example ${run}`)
  expect(refused.body.detail).toContain('holdfast runs cancel --job old-report')
  await rig.call('POST', `/v1/runs/${run}/cancel`)
  expect((await rig.call('DELETE', '/v1/jobs/old-report')).status).toBe(204)
  expect((await rig.call('GET', '/v1/jobs/old-report')).status).toBe(404)
  expect((await rig.call('GET', '/v1/schedules/old-report')).status).toBe(404)
  expect((await rig.call('DELETE', '/v1/jobs/old-report')).body.code).toBe('job_not_found')
  expect(await runOf(run)).toMatchObject({ job: 'old-report', state: 'cancelled' })
  expect(await runOf(other)).toMatchObject({ state: 'scheduled' })
})

test("a job that a worker's code still defines is created again, and its interrupted run becomes a dead letter", async () => {
  const passing = defineJob({ name: 'passing', queue: 'indexes', autoDisable: { threshold: null } })
  await rig.holdfast.enqueueBatch(passing, [])
  await rig.holdfast.jobs.delete('passing')
  await expect(rig.holdfast.jobs.get('passing')).rejects.toMatchObject({ code: 'job_not_found' })
  // Enqueued by a transaction that had found the job before it was deleted.
  await rig.holdfast.jobs.declare(passing)
  const { id } = await rig.holdfast.enqueue(passing, {}, { delayMs: 500 })
  await rig.database.pool.query(`delete from holdfast_internal.jobs where name = 'passing'`)
  const run = await until(
    'it is given up',
    () => rig.holdfast.runs.get(id),
    ({ state }) => state === 'failed',
  )
  expect(run).toMatchObject({ errorCode: 'job_deleted', error: 'Its job was deleted.' })
})
