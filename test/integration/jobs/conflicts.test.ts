import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
const noted = defineJob({ name: 'noted', queue: 'noted' })

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  await holdfast.jobs.declare(noted)
})

afterAll(() => jobs.stop())

const later = { delayMs: 3_600_000 }

test('replace gives a waiting run a new input at the time that it has', async () => {
  const options = { uniqueKey: 'r', onConflict: 'replace' } as const
  const first = await holdfast.enqueue(noted, 1, { ...options, ...later })
  const { dueAt } = await holdfast.runs.get(first)
  const second = await holdfast.enqueue(noted, 2, { ...options, delayMs: 7_200_000 })
  expect(second.id).not.toBe(first.id)
  expect(await holdfast.runs.get(second)).toMatchObject({ payload: 2, state: 'scheduled', dueAt })
  expect(await holdfast.runs.get(first)).toMatchObject({
    state: 'cancelled',
    errorCode: 'replaced',
    error: `Replaced by ${second.id}, which has its unique key.`,
  })
  // Without it the waiting one is kept.
  expect((await holdfast.enqueue(noted, 3, { uniqueKey: 'r' })).id).toBe(second.id)
})

test('debounce starts the time anew', async () => {
  const options = { uniqueKey: 'd', onConflict: 'debounce', ...later } as const
  const first = await holdfast.enqueue(noted, 1, options)
  const before = (await holdfast.runs.get(first)).dueAt as Date
  const second = await holdfast.enqueue(noted, 2, options)
  const { dueAt, payload } = await holdfast.runs.get(second)
  expect(payload).toBe(2)
  expect(dueAt?.getTime()).toBeGreaterThan(before.getTime())
})

test('a run that a worker has is not changed: the new one is stored beside it and has the key', async () => {
  const { claim } = await jobs.claimByHand('noted')
  const options = { uniqueKey: 'out', onConflict: 'replace' } as const
  const first = await holdfast.enqueue(noted, 1, options)
  expect(await claim()).toBe(1)
  const second = await holdfast.enqueue(noted, 2, options)
  expect(await holdfast.runs.get(first)).toMatchObject({ state: 'running' })
  expect(await holdfast.runs.get(second)).toMatchObject({ state: 'waiting', payload: 2 })
  const third = await holdfast.enqueue(noted, 3, options)
  expect(await holdfast.runs.get(second)).toMatchObject({ state: 'cancelled' })
  expect(await claim()).toBe(1)
  expect(await holdfast.runs.get(third)).toMatchObject({ state: 'running', payload: 3 })
})

test('in one batch the last one of a key is stored, and a roll-back replaces nothing', async () => {
  const options = { uniqueKey: 'batch', onConflict: 'replace', ...later } as const
  const runs = await holdfast.enqueueBatch(noted, [
    { input: 1, ...options },
    { input: 2, ...options },
  ])
  expect(runs[0]?.id).toBe(runs[1]?.id)
  expect(await holdfast.runs.get(runs[0]!)).toMatchObject({ payload: 2 })
  const client = await jobs.rig.database.pool.connect()
  await client.query('begin')
  await client.query(`select holdfast.enqueue('noted', '3', $1)`, [JSON.stringify(options)])
  await client.query('rollback')
  client.release()
  expect(await holdfast.runs.get(runs[0]!)).toMatchObject({ state: 'scheduled', payload: 2 })
})

test('without a unique key, or with an ordering key, it is refused', async () => {
  await expect(holdfast.enqueue(noted, 1, { uniqueForMs: 1000 })).rejects.toThrow(
    'uniqueForMs: requires uniqueKey',
  )
  await expect(holdfast.enqueue(noted, 1, { onConflict: 'replace' })).rejects.toMatchObject({
    code: 'invalid_options',
  })
  await expect(
    holdfast.enqueue(noted, 1, { onConflict: 'replace', uniqueKey: 'a', orderingKey: 'b' }),
  ).rejects.toMatchObject({ code: 'invalid_options' })
  for (const options of ['{"onConflict": "replace"}', '{"onConflict": "swap", "uniqueKey": "a"}']) {
    await expect(jobs.rig.rows(`select holdfast.enqueue('noted', '1', $1)`, [options])).rejects.toThrow(
      /onConflict must be/,
    )
  }
})

test('waiting for a result needs a time', async () => {
  const run = await holdfast.enqueue(noted, 1, later)
  for (const options of [undefined, {}, { timeoutMs: '1 s' }, { timeoutMs: Number.NaN }, { timeoutMs: -1 }]) {
    const wait = Promise.resolve().then(() => run.result(options as { timeoutMs: number }))
    await expect(wait).rejects.toMatchObject({ code: 'invalid_options' })
  }
  await holdfast.runs.cancel(run.id)
})

test('the result of a run can be waited for', async () => {
  const doubled = defineJob({
    name: 'doubled',
    queue: 'doubled',
    run: (input: unknown) => ({ twice: Number(input) * 2 }),
  })
  const run = await holdfast.enqueue(doubled, 21)
  await expect(run.result({ timeoutMs: 50 })).rejects.toMatchObject({ code: 'run_not_ended' })
  const waiting = run.result({ timeoutMs: 20_000 })
  const worker = await jobs.work({ jobs: [doubled] })
  expect(await waiting).toEqual({ twice: 42 })
  const cancelled = await holdfast.enqueue(noted, 1, later)
  const ended = cancelled.result({ timeoutMs: 20_000 })
  await holdfast.runs.cancel(cancelled.id, 'Not needed.')
  await expect(ended).rejects.toMatchObject({ code: 'run_failed', details: { state: 'cancelled' } })
  await expect(cancelled.result({ timeoutMs: 1000, signal: AbortSignal.abort() })).rejects.toThrow()
  await until('the worker to be idle', () => worker.running === 0)
})
