import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast
const job = defineJob({ name: 'held' })
const limits = { heartbeatMs: 200, blockedLoopMs: 500, slowPollMs: 200, stopTimeoutMs: 5000 }

beforeEach(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
  await holdfast.enqueueBatch(job, [])
})
afterEach(() => jobs.stop())

const enqueue = (count: number) =>
  holdfast.enqueueBatch(
    job,
    Array.from({ length: count }, (_, n) => ({ input: n })),
  )

const owed = () =>
  jobs.rig.rows<{ id: number; attempt: number; crashes: number; is_held: boolean }>(
    `select id, attempt, crashes, holdfast_internal.holder_of_run(id) is not null as is_held from holdfast_internal.owed_runs order by id`,
  )

test('a zombie that was only claimed goes back uncounted; one that has begun fails', async () => {
  await enqueue(3)
  const hand = await jobs.claimByHand()
  expect(await hand.claim()).toBe(3)
  const [first] = await owed()
  await jobs.rig.rows(`select holdfast_internal.note_in_flight($1, array[$2::bigint], array[1::float8])`, [
    hand.me,
    first!.id,
  ])
  await jobs.rig.rows(`update holdfast_internal.run_claims set claimed_at = now() - interval '3 hours'`)
  expect(await jobs.rig.rows('select * from holdfast_internal.sweep_zombies_v3(1000, 100, 0)')).toMatchObject(
    [{ found_runs: 3, buried: 1, interrupted: 1 }],
  )
  expect(await owed()).toMatchObject([
    { attempt: 0, crashes: 0, is_held: false },
    { attempt: 0, crashes: 0, is_held: false },
  ])
  expect(await jobs.rig.count('attempts')).toBe(1)
})

test('the crash of a worker whose loop was blocked is charged to the run that blocked it, and to no other', async () => {
  await enqueue(4)
  const hand = await jobs.claimByHand()
  await hand.claim()
  const ids = (await owed()).map(({ id }) => id)
  expect(
    await jobs.rig.value('select holdfast_internal.report_blocked($1, $2, $3)', [
      hand.me,
      [ids[0]],
      [ids[2], ids[3]],
    ]),
  ).toBe(2)
  expect((await owed()).map(({ is_held }) => is_held)).toEqual([true, true, false, false])
  await jobs.rig.rows('select holdfast_internal.bury_worker_v3($1, null, 0)', [hand.me])
  expect((await owed()).map(({ crashes }) => crashes)).toEqual([1, 0, 0, 0])
  expect(
    await jobs.rig.rows('select delivery_id, error_code from holdfast_internal.attempts order by 1'),
  ).toEqual([{ delivery_id: ids[0], error_code: 'interrupted' }])
})

test('while a handler blocks the loop, another worker runs what was claimed behind it; when the loop returns it starts none of these', async () => {
  const begun: unknown[] = []
  // So many short ones that those behind are claimed ahead.
  const handled = job.handledBy((input) => {
    begun.push(input)
    if (input === 1000) block(4000)
  })
  const worker = await jobs.work({ jobs: [handled], concurrency: 1, limits })
  await until("the heartbeat's thread to be up", () =>
    jobs.rig.value<number>('select max(beat)::int from holdfast_internal.workers'),
  )
  await enqueue(3000)
  await until(
    'all to end',
    () => jobs.owed(),
    (count) => count === 0,
    30_000,
  )
  await worker.stop()
  expect(begun).toHaveLength(3000)
  expect(new Set(begun).size).toBe(3000)
  expect(await jobs.rig.value('select max(attempt)::int from holdfast_internal.attempts')).toBe(1)
  const said = jobs.complaints.find((line) => line.startsWith('The event loop was blocked'))
  expect(said).toMatch(/"runs":\["run_[^"]+"\],"returned":[1-9]/)
  expect(await jobs.rig.count('run_claims')).toBe(0)
})

function block(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}
