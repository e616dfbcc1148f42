import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
const job = defineJob({ name: 'deadly' })

beforeEach(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  await holdfast.enqueueBatch(job, [])
})
afterEach(() => jobs.stop())

/** A worker takes what it may, and dies. */
async function crash(): Promise<void> {
  const { me, claim } = await jobs.claimByHand()
  await claim()
  await jobs.rig.rows('select holdfast.bury_worker($1, 0, 0)', [me])
}

test('a run that was there at three deaths of workers becomes a dead letter, not before', async () => {
  const { id } = await holdfast.enqueue(job, {})
  await crash()
  await crash()
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'waiting', crashes: 2, attempt: 0 })
  await crash()
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'failed', error: 'crashed its worker 3 times' })
})

test('runs that were there at a crash are claimed into free slots only, and one at a time when they were there twice', async () => {
  await holdfast.enqueueBatch(job, [{ input: 1 }, { input: 2 }, { input: 3 }])
  await crash()
  const { me, claim } = await jobs.claimByHand()
  expect(await claim(0)).toBe(0)
  expect(await claim(2)).toBe(2)
  await jobs.rig.rows('select holdfast.bury_worker($1, 0, 0)', [me])
  expect(await jobs.rig.rows('select crashes from holdfast.runs order by 1')).toEqual([
    { crashes: 1 },
    { crashes: 2 },
    { crashes: 2 },
  ])
  const next = await jobs.claimByHand()
  expect(await next.claim(10, false), 'only the one that was there once').toBe(1)
  expect(await next.claim(10, true)).toBe(1)
})

test('a worker runs one at a time of those that were there twice, beside others', async () => {
  await holdfast.enqueueBatch(job, [{ input: 'deadly' }, { input: 'deadly' }, { input: 'harmless' }])
  await jobs.rig.rows(`update holdfast.runs set crashes = 2, due_at = now() where id in (
    select id from holdfast.messages where body::text = '"deadly"')`)
  const begun: unknown[] = []
  const gates: (() => void)[] = []
  const handled = job.handledBy(async (input) => {
    begun.push(input)
    await new Promise<void>((resolve) => gates.push(resolve))
  })
  await jobs.work({ jobs: [handled], concurrency: 5, limits: { slowPollMs: 50 } })
  await until(
    'two to begin',
    () => begun.length,
    (count) => count === 2,
  )
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(begun).toHaveLength(2)
  expect(begun).toContain('harmless')
  gates[begun.indexOf('deadly')]?.()
  await until(
    'the third',
    () => begun.length,
    (count) => count === 3,
  )
  for (const open of gates) open()
  await jobs.whenDone()
})
