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
  await jobs.rig.rows('select holdfast_internal.bury_worker($1, 0, 0)', [me])
}

test('a run becomes a dead letter after it was running at the crash of three workers, not before', async () => {
  const { id } = await holdfast.enqueue(job, {})
  await crash()
  await crash()
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'waiting', crashes: 2, attempt: 0 })
  await crash()
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'failed', error: 'crashed its worker 3 times' })
})

test('runs from a crash are claimed only into free slots, and one at a time after two crashes', async () => {
  await holdfast.enqueueBatch(job, [{ input: 1 }, { input: 2 }, { input: 3 }])
  await crash()
  const { me, claim } = await jobs.claimByHand()
  expect(await claim(0)).toBe(0)
  expect(await claim(2)).toBe(2)
  await jobs.rig.rows('select holdfast_internal.bury_worker($1, 0, 0)', [me])
  expect(await jobs.rig.rows('select crashes from holdfast_internal.owed_runs order by 1')).toEqual([
    { crashes: 1 },
    { crashes: 2 },
    { crashes: 2 },
  ])
  const next = await jobs.claimByHand()
  expect(await next.claim(0, true), 'no room for any').toBe(0)
  expect(await next.claim(10, false), 'only the one that was there once').toBe(1)
  expect(await next.claim(10, true)).toBe(1)
})

test('a worker executes runs with two crashes one at a time, beside others', async () => {
  for (const input of ['deadly', 'deadly', 'harmless']) await holdfast.enqueue(job, input)
  await jobs.rig.rows(`update holdfast_internal.runs set crashes = 2, due_at = now() where id in (
    select id from holdfast_internal.messages where body::text = '"deadly"')`)
  const begun: unknown[] = []
  const gates: (() => void)[] = []
  const handled = job.handledBy(async (input) => {
    begun.push(input)
    await new Promise<void>((resolve) => gates.push(resolve))
  })
  await jobs.work({ jobs: [handled], concurrency: 5, limits: { slowPollMs: 60_000, stopTimeoutMs: 10 } })
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

const suspects = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ input: `suspect ${n}`, delayMs: 1 }))
const present = (crashes: number) =>
  jobs.rig.rows(
    `update holdfast_internal.runs set crashes = $1, due_at = now() - interval '1 hour' where id in (
       select id from holdfast_internal.messages where body::text like '"suspect %')`,
    [crashes],
  )

test('fifty runs with two crashes do not delay a thousand runs behind them', async () => {
  await holdfast.enqueueBatch(job, suspects(50))
  await present(2)
  await holdfast.enqueueBatch(
    job,
    Array.from({ length: 1000 }, (_, n) => ({ input: `healthy ${n}`, delayMs: 1 })),
  )
  await holdfast.enqueue(job, 'there once', { delayMs: 1 })
  await jobs.rig.rows(
    `update holdfast_internal.runs set crashes = 1 where id = (select id from holdfast_internal.messages where body::text = '"there once"')`,
  )
  const begun: string[] = []
  const gates: (() => void)[] = []
  let areOpen = false
  const handled = job.handledBy(async (input) => {
    begun.push(input as string)
    if (String(input).startsWith('suspect') && !areOpen) {
      await new Promise<void>((resolve) => gates.push(resolve))
    }
  })
  for (const name of ['one', 'other'])
    await jobs.work({ jobs: [handled], name, concurrency: 10, limits: { stopTimeoutMs: 10 } })
  const ofKind = (kind: string) => begun.filter((input) => input.startsWith(kind)).length
  await until(
    'all that are healthy to run',
    () => ofKind('healthy'),
    (count) => count === 1000,
    5000,
  )
  await until('the one that was there once', () => ofKind('there once'))
  await until(
    'a suspect in each worker',
    () => ofKind('suspect'),
    (count) => count >= 2,
  )
  expect(ofKind('suspect')).toBe(2)
  areOpen = true
  for (const open of gates) open()
  await jobs.whenDone()
  expect(begun).toHaveLength(1051)
})

test('suspects of a crash are run even if new runs keep arriving', async () => {
  await holdfast.enqueueBatch(
    job,
    suspects(10).map((run) => ({ ...run, delayMs: 3_600_000 })),
  )
  await holdfast.enqueueBatch(
    job,
    Array.from({ length: 30_000 }, (_, n) => ({ input: `healthy ${n}` })),
  )
  const begun: string[] = []
  const handled = job.handledBy(async (input) => {
    // By now it claims ahead.
    if (begun.push(input as string) === 5000) await present(1)
    await new Promise((resolve) => setTimeout(resolve, 1))
  })
  await jobs.work({ jobs: [handled], concurrency: 20 })
  await until(
    'them to run',
    () => begun.filter((input) => input.startsWith('suspect')).length,
    (count) => count === 10,
  )
  expect(begun.length).toBeLessThan(25_000)
})

test('a worker holds no more runs from crashes than it has slots, however far ahead it claims', async () => {
  await holdfast.enqueueBatch(job, suspects(300))
  await present(1)
  const held: number[] = []
  const handled = job.handledBy(async () => {
    held.push(await jobs.rig.value('select max(cardinality(run_ids)) from holdfast_internal.run_claims'))
  })
  await jobs.work({ jobs: [handled], concurrency: 5 })
  await jobs.whenDone()
  expect(held).toHaveLength(300)
  expect(Math.max(...held)).toBe(5)
})
