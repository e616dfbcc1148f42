import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
const mail = defineJob({ name: 'mail' })
const report = defineJob({ name: 'report' })
const elsewhere = defineJob({ name: 'elsewhere', queue: 'elsewhere' })

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
})
afterAll(() => jobs.stop())

test.each(['uniqueKey', 'idempotencyKey'])('a key of the kind %s belongs to its job', async (kind) => {
  const first = await holdfast.enqueue(mail, {}, { [kind]: 'k' })
  expect(await holdfast.enqueue(mail, {}, { [kind]: 'k' })).toEqual(first)
  expect(await holdfast.enqueue(report, {}, { [kind]: 'k' })).not.toEqual(first)
})

test.each(['orderingKey', 'concurrencyKey'])('a key of the kind %s belongs to its queue', async (kind) => {
  await jobs.rig.rows('delete from holdfast_internal.runs')
  for (const job of [mail, report, elsewhere]) await holdfast.enqueue(job, {}, { [kind]: 'k' })
  for (const queue of ['default', 'elsewhere']) {
    const { claim } = await jobs.claimByHand(queue)
    // An ordering key hands out the runs behind the first only to be executed one after the other.
    expect(await claim()).toBe(1)
    expect(await claim()).toBe(0)
  }
})
