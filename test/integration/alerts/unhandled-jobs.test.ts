import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../../src/engine/logger.ts'
import { defineJob } from '../../../src/jobs/job.ts'
import { JobWorker } from '../../../src/jobs/worker.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: ApiRig
const notices: string[] = []
const workers: JobWorker[] = []

beforeAll(async () => {
  const note = (_details: object, message: string) => notices.push(message)
  rig = await ApiRig.create({
    logger: { ...silentLogger, info: note, warn: note },
    limits: { maintenanceMs: 20 },
  })
  await rig.holdfast.start()
  await until('the leader', async () => (await rig.holdfast.maintenance.status()).tasks.length > 0)
})

afterAll(async () => {
  for (const worker of workers) await worker.stop()
  await rig.stop()
})

async function work(name: string, job: string): Promise<void> {
  const worker = new JobWorker({
    databaseUrl: rig.database.url,
    journalFolder: null,
    logger: silentLogger,
    name,
    jobs: [defineJob({ name: job, queue: 'reports', run: () => {} })],
  })
  workers.push(worker)
  await worker.start()
}

const alerts = async (state: string) =>
  (await rig.call('GET', `/v1/alerts?state=${state}`)).body.data as { subject: string }[]
const unhandled = async (queue: string) => (await rig.call('GET', `/v1/queues/${queue}`)).body.unhandled
const gauge = async () =>
  (await rig.call('GET', '/metrics')).text
    .split('\n')
    .filter((line) => line.startsWith('holdfast_queue_unhandled_runs{'))

/** Resolves when the rules have been evaluated, by an evaluation that began after this call. */
async function evaluate(): Promise<void> {
  const [asked] = (await rig.database.pool.query('select clock_timestamp()::text as at')).rows
  await rig.holdfast.maintenance.run('alerts')
  await until('the evaluation', async () => {
    const { rowCount } = await rig.database.pool.query(
      `select from holdfast_internal.maintenance_tasks where name = 'alerts' and last_started_at > $1 and last_succeeded_at > last_started_at`,
      [asked.at],
    )
    return rowCount === 1
  })
}

test('runs of a job that no live worker handles are shown, counted and alerted on, until a worker with that job joins', async () => {
  // A worker of the same queue, without that job: its claims set the runs aside.
  await work('clerk', 'invoice')
  const declared = defineJob({ name: 'report', queue: 'reports' })
  const first = await rig.holdfast.enqueue(declared, { n: 1 })
  await rig.holdfast.enqueue(declared, { n: 2 })

  const path = `/v1/runs/${first.id}`
  expect((await rig.call('GET', path)).body).toMatchObject({ state: 'waiting', isUnhandled: true })
  expect((await rig.call('GET', '/v1/runs')).body.data).toMatchObject([
    { state: 'waiting', isUnhandled: true },
    { state: 'waiting', isUnhandled: true },
  ])
  expect(await unhandled('reports')).toMatchObject([{ job: 'report', runs: 2 }])
  expect(await gauge()).toEqual(['holdfast_queue_unhandled_runs{job="report",queue="reports"} 2'])

  // They have not waited for the rule's minute.
  await evaluate()
  expect(await alerts('firing')).toEqual([])
  await rig.holdfast.alertRules.update('job-unhandled', { threshold: 0, holdMs: 0, clearMs: 0, quietMs: 0 })
  await evaluate()
  expect(await alerts('firing')).toMatchObject([{ rule: 'job-unhandled', subject: 'report' }])
  expect(notices).toContainEqual(
    expect.stringMatching(
      /^\[FIRING\] warning: no worker handles the job report: its runs have been waiting/,
    ),
  )

  await work('reporter', 'report')
  await until('the runs to succeed', async () => (await rig.call('GET', path)).body.state === 'succeeded')
  await evaluate()
  expect(await alerts('firing')).toEqual([])
  expect(await alerts('resolved')).toMatchObject([{ rule: 'job-unhandled', subject: 'report' }])
  expect(notices).toContainEqual(expect.stringMatching(/^\[RESOLVED\] .*report/))
  expect((await rig.call('GET', path)).body).toMatchObject({ isUnhandled: false })
  expect((await rig.call('GET', '/v1/runs')).body.data).toMatchObject([
    { isUnhandled: false },
    { isUnhandled: false },
  ])
  expect(await unhandled('reports')).toEqual([])
  // A scrape within seconds of another one has the same gauges.
  await until('the gauge to end', async () => (await gauge()).length === 0)
})
