import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { claimRuns } from '../../../src/storage/claim-runs.ts'
import { Database } from '../../../src/storage/database.ts'
import { registerWorker } from '../../../src/storage/workers.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
let database: Database

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  const { pool } = jobs.rig.database
  database = new Database({ pool, preparesStatements: true, deadlineMs: 15_000 })
})
afterAll(() => jobs.stop())

/** A worker of one queue that claims when it is told to; `claim` returns the inputs. */
async function claimer(queue: string, jobIds: readonly number[] | null) {
  const { incarnation, laneIds } = await registerWorker(database, {
    name: 'by hand',
    version: '0',
    host: 'here',
    pid: 1,
    queues: [queue],
    tags: [],
    concurrency: 1000,
    leaseMs: 3_600_000,
  })
  let request = 0
  return async (wanted = 100, maxBytes = 16 * 1024 * 1024) => {
    request += 1
    const limits = {
      wanted,
      maxBytes,
      maxChain: 50,
      patienceMs: 0,
      suspectRoom: 10,
      mayTakeDeadly: true,
      jobIds,
    }
    const claimed = await claimRuns(database, {
      worker: incarnation,
      laneId: laneIds[0]!,
      request,
      ...limits,
    })
    return { inputs: claimed.runs.map(({ body }) => JSON.parse(body!)), waitMs: claimed.hint?.waitMs }
  }
}

const idOf = (job: string) =>
  jobs.rig.value<number>('select id from holdfast_internal.jobs where name = $1', [job])

test('two services on one queue each claim their own runs, and neither returns runs of the other', async () => {
  const mail = defineJob({ name: 'mail', queue: 'both' })
  const report = defineJob({ name: 'report', queue: 'both' })
  for (const job of [mail, report]) await holdfast.jobs.declare(job)
  const mails = await claimer('both', [await idOf('mail')])
  const reports = await claimer('both', [await idOf('report')])
  await holdfast.enqueueBatch(
    mail,
    ['m1', 'm2'].map((input) => ({ input })),
  )
  await holdfast.enqueueBatch(
    report,
    ['r1', 'r2', 'r3'].map((input) => ({ input })),
  )
  await holdfast.enqueue(mail, 'm3', { delayMs: 1 })
  await holdfast.enqueue(report, 'r0', { priority: 2 })
  await until('all to be due', async () => {
    const waiting = await jobs.rig.value<number>(
      'select count(*)::int from holdfast_internal.runs where due_at > now()',
    )
    return waiting === 0
  })
  expect((await mails()).inputs).toEqual(['m1', 'm2', 'm3'])
  expect((await reports(2)).inputs, 'the highest priority first').toEqual(['r0', 'r1'])
  expect((await mails()).inputs).toEqual([])
  expect((await reports()).inputs).toEqual(['r2', 'r3'])
})

test('a claim takes as many runs as fit into its bytes, in their order, and a single one of any size', async () => {
  const large = defineJob({ name: 'large', queue: 'large' })
  await holdfast.jobs.declare(large)
  const claim = await claimer('large', null)
  const body = (name: string, bytes: number) => name + 'x'.repeat(bytes)
  const inputs = [
    body('a', 10),
    body('b', 500),
    body('c', 500),
    body('d', 5000),
    body('e', 10),
    body('f', 10),
  ]
  await holdfast.enqueueBatch(
    large,
    inputs.map((input) => ({ input })),
  )
  const names = async (maxBytes: number) => {
    const { inputs: claimed, waitMs } = await claim(100, maxBytes)
    return [claimed.map((input: string) => input[0]).join(''), waitMs]
  }
  expect(await names(1000), 'more waits').toEqual(['ab', 0])
  expect(await names(1000)).toEqual(['c', 0])
  expect(await names(1000), 'larger than the budget').toEqual(['d', 0])
  expect(await names(1000)).toEqual(['ef', null])
})

test('due runs count by the size of their message, also when they are redriven', async () => {
  const small = defineJob({ name: 'small', queue: 'small' })
  await holdfast.jobs.declare(small)
  const claim = await claimer('small', null)
  for (let n = 0; n < 4; n += 1) await holdfast.enqueue(small, 'x'.repeat(400), { concurrencyKey: `k${n}` })
  const totals = [(await claim(100, 900)).inputs.length, (await claim(100, 900)).inputs.length]
  expect(totals).toEqual([2, 2])
})

test('at equal priority age decides between fresh runs and those that were retried', async () => {
  const aged = defineJob({ name: 'aged', queue: 'aged' })
  await holdfast.jobs.declare(aged)
  const claim = await claimer('aged', null)
  await holdfast.enqueue(aged, 'old')
  const retried = await holdfast.enqueue(aged, 'retried')
  const longDue = await holdfast.enqueue(aged, 'long due')
  await until('the clock to pass their numbers', () =>
    jobs.rig.value<boolean>(
      'select holdfast_internal.id_at(clock_timestamp()) > last_value from holdfast_internal.ids',
    ),
  )
  for (const [{ id }, since] of [
    [retried, '0 s'],
    [longDue, '1 h'],
  ] as const) {
    await jobs.rig.rows(
      `update holdfast_internal.runs set due_at = clock_timestamp() - $2::interval where id = holdfast.parse_id('run', $1)`,
      [id, since],
    )
  }
  expect((await claim(1)).inputs).toEqual(['long due'])
  expect((await claim(1)).inputs).toEqual(['old'])
  expect((await claim(1)).inputs).toEqual(['retried'])
})

test('a run without a live worker for its job is shown and counted as such, and starts when one joins', async () => {
  const lonely = defineJob({ name: 'lonely', queue: 'mixed' })
  const served: unknown[] = []
  const popular = defineJob({ name: 'popular', queue: 'mixed', run: (input) => void served.push(input) })
  await holdfast.jobs.declare(lonely)
  await jobs.work({ jobs: [popular] })
  const { id } = await holdfast.enqueue(lonely, 1)
  await holdfast.enqueue(popular, 'served')
  await until('the other to be served', () => served.length === 1)
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'waiting', isUnhandled: true, attempt: 0 })
  const unhandled = () =>
    jobs.rig.rows<{ job: string; queue: string; runs: number }>(
      'select job, queue, runs::int from holdfast_internal.unhandled_jobs() where queue = $1',
      ['mixed'],
    )
  expect(await unhandled()).toEqual([{ job: 'lonely', queue: 'mixed', runs: 1 }])
  expect(
    await jobs.rig.rows(`select labels from holdfast.metrics() where metric = 'queue_unhandled_runs'`),
  ).toContainEqual({ labels: { queue: 'mixed', job: 'lonely' } })
  expect(
    await jobs.rig.rows(
      `select subject from holdfast_internal.alert_findings('job_unhandled', 0, null, null)`,
    ),
  ).toContainEqual({ subject: 'lonely' })
  expect((await holdfast.queues.get('mixed')).unhandled).toMatchObject([{ job: 'lonely', runs: 1 }])
  expect((await holdfast.queues.list()).find(({ name }) => name === 'mixed')?.unhandled).toHaveLength(1)
  // Aside for its job, it still is the oldest run that waits.
  expect(
    await jobs.rig.value(
      `select holdfast_internal.oldest_waiting_run(id) from holdfast_internal.queues where name = 'mixed'`,
    ),
  ).toBeInstanceOf(Date)
  const ran: unknown[] = []
  await jobs.work({
    jobs: [defineJob({ name: 'lonely', queue: 'mixed', run: (input) => void ran.push(input) })],
  })
  await until('it to run', () => ran.length === 1)
  expect(await unhandled()).toEqual([])
})
