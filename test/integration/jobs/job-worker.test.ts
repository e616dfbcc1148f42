import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast

const pinned = defineJob({ name: 'pinned', worker: 'disk-1', run: () => 'done' })

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client({ actor: 'tester' })
  for (const name of ['disk-1', 'disk-2']) {
    await jobs.work({ jobs: [pinned], name, tags: name === 'disk-2' ? ['spare'] : [] })
  }
})

afterAll(() => jobs.stop())

const ended = (id: string) =>
  until(
    `${id} to end`,
    () => holdfast.runs.get(id),
    ({ endedAt }) => endedAt !== null,
  )

test('the worker that a job names executes its runs, however they are enqueued', async () => {
  const single = await holdfast.enqueue(pinned, {})
  const batch = await holdfast.enqueueBatch(pinned, [{ input: 1 }, { input: 2 }])
  const keyed = await holdfast.enqueue(pinned, {}, { orderingKey: 'k' })
  const [bySql] = (await jobs.rig.database.pool.query("select holdfast.enqueue('pinned', '{}') as id")).rows
  const triggered = await holdfast.jobs.trigger('pinned')
  for (const { id } of [single, ...batch, keyed, bySql, triggered]) {
    expect(await ended(id)).toMatchObject({ state: 'succeeded', worker: 'disk-1' })
  }
})

test('a run that chooses its worker or its tags goes there instead', async () => {
  const chosen = await holdfast.enqueue(pinned, {}, { worker: 'disk-2' })
  const tagged = await holdfast.enqueue(pinned, {}, { requireTags: ['spare'] })
  for (const { id } of [chosen, tagged]) expect(await ended(id)).toMatchObject({ worker: 'disk-2' })
})

test('a run of a job whose worker is gone fails when its TTL has passed', async () => {
  await holdfast.jobs.override('pinned', { worker: 'disk-3', ttlMs: 50 })
  const { id } = await holdfast.enqueue(pinned, {})
  expect(await ended(id)).toMatchObject({ state: 'failed', error: 'Worker queue TTL expired', worker: null })
})
