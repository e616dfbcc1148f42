import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'

let jobs: JobsRig
let holdfast: Holdfast
let proxy: CuttingProxy
const job = defineJob({ name: 'fenced' })
const limits = { heartbeatMs: 100, leaseMs: 1500, slowPollMs: 100, stopTimeoutMs: 10 }

beforeEach(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  proxy = await CuttingProxy.start(jobs.rig.database.url)
  await holdfast.enqueueBatch(job, [])
})
afterEach(async () => {
  proxy.carry()
  await jobs.stop()
  await proxy.stop()
})

test.each([
  ['the claim', 'claim_runs'],
  ['the look at its job', 'read_jobs_by_id'],
])(
  'what a worker claimed before it was declared dead is not run when the answer to %s comes after its return',
  async (_, statement) => {
    const begun: number[] = []
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const handled = job.handledBy(async (_input, { crashes }) => {
      begun.push(crashes)
      await gate
    })
    const worker = await jobs.work({ jobs: [handled], databaseUrl: proxy.url, limits })
    const first = worker.incarnation
    // One claim at a time: while this answer is kept, no other claim is on its way that could take the run unnoticed.
    let { release } = await proxy.keepNextAnswer('claim_runs')
    await holdfast.enqueue(job, {})
    do {
      const kept = proxy.keepNextAnswer(statement)
      release()
      release = (await kept).release
    } while ((await jobs.rig.count('run_claims')) === 0)
    // It goes on beating: one that comes in between saves it.
    await until('it to be declared dead', () =>
      jobs.rig.value<number>(
        'select sum(holdfast_internal.bury_worker(incarnation, beat, 0))::int from holdfast_internal.workers',
      ),
    )
    await until('it to come back', () => worker.incarnation !== first)
    await until('it to be known', () => jobs.rig.count('workers'))
    release()
    await until('the run to begin', () => begun.length)
    open()
    await jobs.whenDone()
    expect(begun, 'once, as one that was there at a crash').toEqual([1])
  },
)

test('a worker that has lost its lease starts nothing more of what it claimed ahead', async () => {
  const begun: string[] = []
  const gates: (() => void)[] = []
  const cutOff = job.handledBy((input) => {
    begun.push(input as string)
    return input === 'quick' ? undefined : new Promise<void>((resolve) => gates.push(resolve))
  })
  // So many short ones that the long ones behind them are claimed ahead.
  const inputs = [...Array.from({ length: 2000 }, () => 'quick'), 'long 1', 'long 2', 'long 3']
  await holdfast.enqueueBatch(
    job,
    inputs.map((input) => ({ input })),
  )
  const worker = await jobs.work({ jobs: [cutOff], databaseUrl: proxy.url, concurrency: 1, limits })
  await until('the first long one', () => gates.length)
  const held = `select count(*)::int from holdfast_internal.owed_runs where holdfast_internal.holder_of_run(id) is not null`
  await until(
    'only long ones to be left',
    () => jobs.rig.value<number>(held),
    (count) => count === 3,
  )
  proxy.swallow()
  const heirs: string[] = []
  await jobs.work({
    jobs: [job.handledBy((input) => void heirs.push(input as string))],
    name: 'heir',
    limits,
  })
  await until('the heir to run them', () => heirs.includes('long 2'))
  const { completed } = worker
  gates[0]?.()
  await until('its run to end', () => worker.completed > completed)
  expect(begun.filter((input) => input !== 'quick')).toEqual(['long 1'])
})

test('a run that comes back to a worker which was declared dead is not started beside its own handler, whose result counts', async () => {
  const begun: number[] = []
  let finish = () => {}
  const handled = job.handledBy(async () => {
    begun.push(1)
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    throw new Error('decided by the first handler')
  })
  const worker = await jobs.work({ jobs: [handled], limits: { ...limits, stopTimeoutMs: 100 } })
  await holdfast.jobs.override('fenced', { retry: { maxRetries: 0 } })
  const { id } = await holdfast.enqueue(job, {})
  await until('it to begin', () => begun.length)
  const first = worker.incarnation
  await until('it to be declared dead', () =>
    jobs.rig.value<number>(
      'select sum(holdfast_internal.bury_worker(incarnation, beat, 0))::int from holdfast_internal.workers',
    ),
  )
  await until('it to come back', () => worker.incarnation !== first)
  await until(
    'the run to be claimed again',
    () =>
      jobs.rig.value<number | null>(
        'select holdfast_internal.holder_of_run(id) from holdfast_internal.owed_runs',
      ),
    (holder) => holder === worker.incarnation,
  )
  // Longer than a claimed run waits for its start.
  await new Promise((resolve) => setTimeout(resolve, 300))
  finish()
  await jobs.whenDone()
  expect(begun).toHaveLength(1)
  expect(await holdfast.runs.get(id)).toMatchObject({
    state: 'failed',
    error: 'Error: decided by the first handler',
  })
})
