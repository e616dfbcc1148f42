import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { JobWorker } from '../../../src/jobs/worker.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'

/** Runs are cancelled by a filter, as an operation like any other. */
let rig: ApiRig
let worker: JobWorker
const running = new Map<string, () => void>()
const job = defineJob({ name: 'mail', queue: 'mails' })
const other = defineJob({ name: 'other', queue: 'mails' })
const slow = defineJob({
  name: 'slow',
  queue: 'slow',
  run: (_input, context) =>
    new Promise<void>((resolve, reject) => {
      running.set(context.id, resolve)
      context.signal.addEventListener('abort', () => reject(new Error('told to stop')))
    }),
})

beforeEach(async () => {
  running.clear()
  rig = await ApiRig.create()
  await rig.holdfast.start()
  worker = new JobWorker({
    databaseUrl: rig.database.url,
    journalFolder: null,
    jobs: [slow],
    name: 'slow-hand',
    limits: { heartbeatMs: 50 },
  })
  await worker.start()
})

afterEach(async () => {
  for (const end of running.values()) end()
  await worker.stop()
  await rig.stop()
})

/** As many at once as the pool has connections: hundreds would wait for one longer than it allows. */
async function states(ids: readonly { id: string }[]): Promise<string[]> {
  const maxAtOnce = 8
  const found: string[] = []
  for (let at = 0; at < ids.length; at += maxAtOnce) {
    const runs = await Promise.all(ids.slice(at, at + maxAtOnce).map(({ id }) => rig.holdfast.runs.get(id)))
    found.push(...runs.map(({ state }) => state))
  }
  return found
}

async function cancel(filter: object, more: object = {}) {
  const { status, body } = await rig.call('POST', '/v1/runs/cancel', { body: { filter, ...more } })
  expect(status, JSON.stringify(body)).toBe(202)
  return until(
    'the operation to end',
    async () => (await rig.call('GET', `/v1/operations/${body.id}`)).body,
    ({ state }) => state !== 'running',
  )
}

test('what waits of one job is cancelled, whether it shares a row or has one, and nothing else', async () => {
  const together = await rig.holdfast.enqueueBatch(
    job,
    Array.from({ length: 700 }, (_, n) => ({ input: n })),
  )
  const planned = [await rig.holdfast.enqueue(job, 'later', { delayMs: 3_600_000 })]
  const kept = await rig.holdfast.enqueueBatch(other, [{ input: 1 }, { input: 2 }])
  const preview = await rig.holdfast.operations.preview({ kind: 'cancel_runs', filter: { job: 'mail' } })
  expect(preview.count).toBe(701)
  const later = [
    await rig.holdfast.enqueue(job, 'after the preview', { delayMs: 1000 }),
    await rig.holdfast.enqueue(job, 'fresh'),
  ]
  const ended = await cancel({ job: 'mail' }, { asOf: preview.asOf, reason: 'withdrawn' })
  expect(ended).toMatchObject({ kind: 'cancel_runs', state: 'succeeded', total: 701, done: 701, skipped: 0 })
  expect(new Set(await states([...together.slice(0, 200), ...planned]))).toEqual(new Set(['cancelled']))
  expect(await states(kept)).toEqual(['waiting', 'waiting'])
  expect((await states(later)).includes('cancelled'), 'what came after the preview stays').toBe(false)
  expect(await rig.holdfast.runs.get(together[0]?.id ?? '')).toMatchObject({ error: 'withdrawn', attempt: 0 })
  const entries = await rig.holdfast.audit.list({ action: 'run.cancelled' })
  expect(entries, 'the operation is what the audit log names').toEqual([])
})

test('handlers of running ones are signalled, and filters narrow the selection', async () => {
  const [first, second] = [
    await rig.holdfast.enqueue(slow, {}, { tags: ['a'] }),
    await rig.holdfast.enqueue(slow, {}, { tags: ['b'] }),
  ]
  await until(
    'both to run',
    () => running.size,
    (size) => size === 2,
  )
  expect(await cancel({ worker: 'slow-hand', tag: 'a' })).toMatchObject({ total: 1, done: 1 })
  await until(
    'the first to end',
    () => rig.holdfast.runs.get(first.id),
    ({ state }) => state === 'cancelled',
  )
  expect(await states([second])).toEqual(['running'])
})

test('an empty filter has to be meant, and ended runs are refused', async () => {
  const empty = await rig.call('POST', '/v1/runs/cancel', { body: { filter: {} } })
  expect(empty).toMatchObject({ status: 422, body: { code: 'invalid_filter' } })
  const ended = await rig.call('POST', '/v1/runs/cancel', { body: { filter: { state: 'failed' } } })
  expect(ended.status).toBe(422)
  await rig.holdfast.enqueueBatch(other, [{ input: 3 }])
  const all = await cancel({}, { all: true })
  expect(all).toMatchObject({ state: 'succeeded' })
  expect(await rig.holdfast.runs.list({ state: 'waiting' })).toEqual([])
})
