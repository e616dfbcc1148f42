import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { RunContext } from '../../../src/jobs/run-context.ts'
import type { JobWorker } from '../../../src/jobs/worker.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

/** What people are told of a run is what happened to it. */
let jobs: JobsRig
let holdfast: Holdfast
let worker: JobWorker
let handle: (context: RunContext) => unknown = () => undefined

const job = defineJob({
  name: 'report',
  queue: 'reports',
  retry: { strategy: 'fixed', baseDelayMs: 60_000, maxRetries: 3, jitter: 'none' },
  autoDisable: { threshold: null },
  run: (_input, context) => handle(context),
})

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  worker = await jobs.work({
    jobs: [job],
    name: 'reporter',
    concurrency: 4,
    limits: { heartbeatMs: 50, progressMs: 20 },
    onRunEnded: holdfast.countRun,
  })
})

afterAll(() => jobs.stop())

/** A handler that is at work until it is told to stop or to end. */
function busy() {
  let begin: (context: RunContext) => void = () => undefined
  let end: () => void = () => undefined
  const begun = new Promise<RunContext>((resolve) => {
    begin = resolve
  })
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  handle = async (context) => {
    context.logger.info({}, 'at it')
    begin(context)
    await Promise.race([
      ended,
      new Promise((_, reject) =>
        context.signal.addEventListener('abort', () => reject(new Error('told to stop'))),
      ),
    ])
  }
  return { begun, end }
}

const stateOf = (id: string, wanted: string) =>
  until(
    `${id} is ${wanted}`,
    () => holdfast.runs.get(id),
    ({ state }) => state === wanted,
  )

test('a running first attempt is attempt 1, and counted where it runs', async () => {
  const { begun, end } = busy()
  const { id } = await holdfast.enqueue(job, {})
  await begun
  expect(await holdfast.runs.get(id)).toMatchObject({ state: 'running', attempt: 1, worker: 'reporter' })
  expect(await holdfast.runs.list({ state: 'running' })).toMatchObject([{ id, attempt: 1 }])
  await until(
    'the worker reports it',
    () => holdfast.workers.list(),
    ([known]) => known?.running === 1,
  )
  end()
  await until(
    'the worker reports that it has ended',
    () => holdfast.workers.list(),
    ([known]) => known?.running === 0,
  )
  expect(await stateOf(id, 'succeeded')).toMatchObject({ attempt: 1, worker: 'reporter' })
})

test('a run that was cancelled while it ran shows that attempt alone, with its logs', async () => {
  const { begun } = busy()
  const { id } = await holdfast.enqueue(job, {})
  await begun
  expect(await holdfast.runs.cancel(id, 'wrong month')).toBe('requested')
  const run = await stateOf(id, 'cancelled')
  expect(run).toMatchObject({
    attempt: 1,
    worker: 'reporter',
    error: 'wrong month',
    logs: [{ message: 'at it' }],
  })
  expect(run.attempts).toMatchObject([
    { attempt: 1, outcome: 'cancelled', worker: 'reporter', logs: [{ message: 'at it' }] },
  ])
})

test('a run that was cancelled before it ran shows no attempt', async () => {
  const { id } = await holdfast.enqueue(job, {}, { delayMs: 60_000 })
  expect(await holdfast.runs.cancel(id)).toBe('cancelled')
  const run = await holdfast.runs.get(id)
  expect(run).toMatchObject({ state: 'cancelled', attempt: 0, worker: null })
  expect(run.attempts).toMatchObject([{ outcome: 'cancelled', durationMs: null, worker: null }])
})

test('a run that was cancelled between two attempts still shows the logs of the first', async () => {
  handle = (context) => {
    context.logger.info({}, 'the first try')
    throw new Error('not yet')
  }
  const { id } = await holdfast.enqueue(job, {})
  await stateOf(id, 'scheduled')
  await holdfast.runs.cancel(id)
  const run = await holdfast.runs.get(id)
  expect(run).toMatchObject({ state: 'cancelled', attempt: 1, logs: [{ message: 'the first try' }] })
  expect(run.attempts.map(({ outcome }) => outcome)).toEqual(['retryable', 'cancelled'])
})

test('a run that was tried and then expires at the same worker is expired, not failed', async () => {
  handle = () => {
    throw new Error('not yet')
  }
  const { id } = await holdfast.enqueue(job, {})
  await stateOf(id, 'scheduled')
  await jobs.rig.rows(
    `update holdfast_internal.runs set due_at = now(), expires_at = now() - interval '1 second' where id = holdfast.parse_id('run', $1)`,
    [id],
  )
  const run = await stateOf(id, 'expired')
  expect(run.attempt).toBe(1)
})

test('an ended run names its worker after that has stopped', async () => {
  const passing = defineJob({ name: 'passing', queue: 'passing', run: () => 7 })
  const gone = await jobs.work({ jobs: [passing], name: 'passer-by' })
  const { id } = await holdfast.enqueue(passing, {})
  await stateOf(id, 'succeeded')
  await gone.stop()
  expect(await holdfast.runs.get(id)).toMatchObject({
    worker: 'passer-by',
    attempts: [{ worker: 'passer-by' }],
  })
  expect(await holdfast.runs.list({ job: 'passing' })).toMatchObject([{ id, worker: 'passer-by' }])
})

test('a redrive answers an id that runs take, and its handler sees the id of the run that failed', async () => {
  const seen: string[] = []
  handle = (context) => {
    seen.push(context.id)
    throw new PermanentError('no paper')
  }
  const { id } = await holdfast.enqueue(job, {})
  const { deadLetterId, worker: failedAt } = await stateOf(id, 'failed')
  expect(failedAt).toBe('reporter')
  const letter = await holdfast.deadLetters.get(deadLetterId ?? '')
  expect(letter.deliveryId).toBe(id)
  expect(letter.attempts).toMatchObject([{ deliveryId: id }])
  const { begun, end } = busy()
  const { deliveryId, runId } = await holdfast.deadLetters.redrive(deadLetterId ?? '')
  expect(runId).toBe(deliveryId)
  const context = await begun
  seen.push(context.id)
  expect(seen).toEqual([id, id])
  const redrive = await holdfast.runs.get(runId ?? '')
  expect(redrive).toMatchObject({
    state: 'running',
    attempt: 1,
    redriveOf: id,
    deadLetterId,
    redrivenRunId: null,
  })
  expect(await holdfast.runs.get(id)).toMatchObject({
    state: 'failed',
    redriveOf: null,
    redrivenRunId: runId,
  })
  expect((await holdfast.deadLetters.get(deadLetterId ?? '')).redrivenDeliveryId).toBe(runId)
  end()
  await stateOf(runId ?? '', 'succeeded')
})

test('the id that a handler knows cancels and hastens the redrive', async () => {
  handle = () => {
    throw new PermanentError('no paper')
  }
  const { id } = await holdfast.enqueue(job, {})
  const { deadLetterId } = await stateOf(id, 'failed')
  await holdfast.queues.pause('reports')
  const { runId } = await holdfast.deadLetters.redrive(deadLetterId ?? '')
  await jobs.rig.rows(
    `update holdfast_internal.runs set due_at = now() + interval '1 hour' where id = holdfast.parse_id('run', $1)`,
    [runId],
  )
  expect(await holdfast.runs.retryNow(id)).toBe(true)
  expect(await holdfast.runs.get(runId ?? '')).toMatchObject({ state: 'waiting' })
  expect(await holdfast.runs.cancel(id)).toBe('cancelled')
  expect(await holdfast.runs.get(runId ?? '')).toMatchObject({ state: 'cancelled' })
  await holdfast.queues.resume('reports')
  await expect(holdfast.runs.cancel(id)).rejects.toMatchObject({ code: 'run_not_found' })
})

test("a job's dead letters are counted: in the overview, by its queue, and as they are made", async () => {
  const before = await holdfast.overview.get()
  const madeBefore = await madeHere()
  handle = () => {
    throw new PermanentError('no ink')
  }
  const { id } = await holdfast.enqueue(job, {})
  await stateOf(id, 'failed')
  const open = (await holdfast.deadLetters.list({ state: 'open', job: 'report' })).data.length
  expect((await holdfast.overview.get()).totals.deadLetters).toBe(before.totals.deadLetters + 1)
  expect(await holdfast.queues.get('reports')).toMatchObject({ deadLetters: open })
  expect((await holdfast.queues.list()).find(({ name }) => name === 'reports')).toMatchObject({
    deadLetters: open,
  })
  await until('it is counted', madeHere, (made) => made === madeBefore + 1)
  expect(
    await jobs.rig.rows(
      `select value from holdfast.metrics() where metric = 'queue_dead_letters' and labels ->> 'queue' = 'reports'`,
    ),
  ).toEqual([{ value: open }])
  expect(worker.running).toBe(0)
})

async function madeHere(): Promise<number> {
  const { body } = await holdfast.renderMetrics()
  return Number(/^holdfast_dead_letters_total (\d+)$/m.exec(body)?.[1] ?? 0)
}
