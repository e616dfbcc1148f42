import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { JobWorker } from '../../../src/jobs/worker.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
})

afterAll(() => jobs.stop())

const run = () => {}
const timeoutOf = async (name: string) => (await holdfast.jobs.get(name)).timeoutMs

/** A worker whose code sets this time-out. */
function deployed(name: string, timeoutMs: number, workerName: string): Promise<JobWorker> {
  return jobs.work({ jobs: [defineJob({ name, queue: name, timeoutMs, run })], name: workerName })
}

test('a definition in a process that only enqueues does not change the settings of a deployed job', async () => {
  const report = defineJob({ name: 'report', queue: 'reports', autoDisable: { threshold: null }, run })
  const worker = await jobs.work({ jobs: [report] })
  await holdfast.enqueue(defineJob({ name: 'report' }), {})
  await holdfast.schedules.set({ name: 'nightly', job: defineJob({ name: 'report' }), cron: '0 3 * * *' })
  await holdfast.jobs.declare(defineJob({ name: 'report' }))
  await jobs.rig.rows(`select holdfast.declare_job('report', '{"queue": "elsewhere"}')`)
  const job = await holdfast.jobs.get('report')
  expect(job).toMatchObject({ queue: 'reports', autoDisable: { threshold: null } })
  expect(job.declaredAt).toBeInstanceOf(Date)
  await worker.stop()
})

test('a newer deployment wins, and a worker of the older one that restarts does not turn it back', async () => {
  const old = await deployed('rolled', 1000, 'old')
  expect(await timeoutOf('rolled')).toBe(1000)
  const fresh = await deployed('rolled', 2000, 'fresh')
  expect(await timeoutOf('rolled')).toBe(2000)
  await old.stop()
  const restarted = await deployed('rolled', 1000, 'old')
  expect(await timeoutOf('rolled')).toBe(2000)

  // A roll-back: no worker of the newer deployment is left.
  await fresh.stop()
  await until(
    'the settings of the remaining worker to hold',
    () => timeoutOf('rolled'),
    (ms) => ms === 1000,
  )
  const again = await deployed('rolled', 2000, 'fresh')
  expect(await timeoutOf('rolled')).toBe(2000)
  await restarted.stop()
  await again.stop()
  expect(await timeoutOf('rolled')).toBe(2000)
})

test('a worker of the older deployment that looks while a newer one joins does not put its settings back', async () => {
  const declare = (timeoutMs: number) =>
    jobs.rig.value<number[]>(
      `select holdfast_internal.declare_jobs(array['joined'], array[jsonb_build_object('queue', 'joined', 'timeoutMs', $1::int)])`,
      [timeoutMs],
    )
  const setJobs = `select holdfast_internal.set_worker_jobs_v2($1, array['joined'], $2)`
  const older = await declare(1000)
  const { me: old } = await jobs.claimByHand('joined')
  await jobs.rig.rows(setJobs, [old, older])
  const newer = await declare(2000)
  const { me: fresh } = await jobs.claimByHand('joined')

  const joining = await jobs.rig.database.pool.connect()
  await joining.query('begin')
  await joining.query(setJobs, [fresh, newer])
  let hasLooked = false
  const look = (async () => {
    await jobs.rig.rows(setJobs, [old, older])
    hasLooked = true
  })()
  const waiting = `select count(*)::int from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
  await until('the older worker to have looked, or to wait', async () => {
    return hasLooked || (await jobs.rig.value<number>(waiting)) > 0
  })
  await joining.query('commit')
  joining.release()
  await look
  expect(await timeoutOf('joined')).toBe(2000)
})

test('a run of a job that nobody has declared is stored, shown as unhandled, and runs when a worker comes', async () => {
  const { id } = await holdfast.enqueue('unheard-of', { a: 1 })
  const [fromSql] = await jobs.rig.rows<{ id: string }>(
    `select holdfast.enqueue('unheard-of', '{"a": 2}') as id`,
  )
  expect(await holdfast.jobs.get('unheard-of')).toMatchObject({ queue: 'default', declaredAt: null })
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'waiting', isUnhandled: true })
  expect(fromSql!.id).toMatch(/^run_/)
  const seen: unknown[] = []
  const worker = await jobs.work({
    jobs: [defineJob({ name: 'unheard-of', queue: 'late-queue', run: (input) => void seen.push(input) })],
  })
  await until('both to run', () => seen.length === 2)
  expect(await holdfast.jobs.get('unheard-of')).toMatchObject({ queue: 'late-queue' })
  await worker.stop()
})

test('a job with an invalid name is refused', async () => {
  await expect(holdfast.enqueue('no such name', {})).rejects.toMatchObject({ code: 'invalid_job' })
  await expect(holdfast.jobs.trigger('nobody', {})).rejects.toMatchObject({ code: 'job_not_found' })
})

test('a job that was deleted has the settings of its workers again when it is used', async () => {
  const worker = await deployed('revived', 3000, 'reviver')
  await holdfast.jobs.delete('revived')
  await holdfast.enqueue('revived', {})
  await until(
    'its worker to declare it',
    () => timeoutOf('revived'),
    (ms) => ms === 3000,
  )
  await worker.stop()
})
