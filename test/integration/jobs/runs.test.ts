import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../../src/jobs/job.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { claimRuns } from '../../../src/storage/claim-runs.ts'
import { Database } from '../../../src/storage/database.ts'
import { registerWorker } from '../../../src/storage/workers.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
})

afterAll(() => jobs.stop())

test('a run reaches its handler with its input, and its result is kept', async () => {
  const seen: unknown[] = []
  const greet = defineJob({
    name: 'greet',
    queue: 'greet',
    input: z.object({ name: z.string(), times: z.number().default(2) }),
    run: ({ name, times }, context) => {
      seen.push([name, times, context.attempt, context.id])
      return { said: name.repeat(times) }
    },
  })
  await jobs.work({ jobs: [greet] })
  const { id } = await holdfast.enqueue(greet, { name: 'Ada' })
  await jobs.whenDone()
  expect(seen).toEqual([['Ada', 2, 1, id]])
  const [attempt] = await jobs.rig.rows(`select outcome, detail from holdfast_internal.attempts`)
  expect(attempt).toEqual({ outcome: 1, detail: { result: { said: 'AdaAda' } } })
  await until(
    'the claim to be gone',
    () => jobs.rig.count('run_claims'),
    (claims) => claims === 0,
  )
})

test('two thousand runs are each run once', async () => {
  const seen = new Map<number, number>()
  const count = defineJob({
    name: 'count',
    queue: 'count',
    run: (input) => {
      const { n } = input as { n: number }
      seen.set(n, (seen.get(n) ?? 0) + 1)
    },
  })
  await holdfast.enqueueBatch(
    count,
    Array.from({ length: 2000 }, (_, n) => ({ input: { n } })),
  )
  await jobs.work({ jobs: [count], concurrency: 10 })
  await jobs.work({ jobs: [count], concurrency: 10 })
  await jobs.whenDone()
  expect(seen.size).toBe(2000)
  expect([...seen.values()].every((times) => times === 1)).toBe(true)
  expect(jobs.complaints).toEqual([])
})

test('a claim without a result returns how long to wait', async () => {
  const later = defineJob({ name: 'later', queue: 'later' })
  await holdfast.enqueueBatch(later, [])
  const database = new Database({
    pool: jobs.rig.database.pool,
    preparesStatements: false,
    deadlineMs: 15_000,
  })
  const { incarnation: worker, laneIds } = await registerWorker(database, {
    name: 'idle',
    version: '0',
    host: 'here',
    pid: 1,
    queues: ['later'],
    tags: [],
    concurrency: 10,
    leaseMs: 600_000,
  })
  const waitMs = async () => {
    const limits = {
      wanted: 10,
      maxChain: 50,
      patienceMs: 0,
      suspectRoom: 10,
      mayTakeDeadly: true,
      jobIds: null,
      maxBytes: 1_000_000,
    }
    const { runs, hint } = await claimRuns(database, { worker, laneId: laneIds[0]!, request: 1, ...limits })
    expect(runs).toEqual([])
    return hint!.waitMs
  }
  expect(await waitMs()).toBeNull()
  await holdfast.enqueue(later, {}, { delayMs: 60_000 })
  expect(await waitMs()).toBeGreaterThan(50_000)
  await jobs.rig.rows(
    `delete from holdfast_internal.runs; delete from holdfast_internal.run_bundles; delete from holdfast_internal.workers where name = 'idle'`,
  )
})

test('an ended run does not claim a priority that it did not have', async () => {
  const hurried = defineJob({
    name: 'hurried',
    queue: 'hurried',
    retry: { maxRetries: 0 },
    run: (fails) => {
      if (fails === true) throw new Error('refused')
    },
  })
  const succeeds = await holdfast.enqueue(hurried, false, { priority: 3 })
  const fails = await holdfast.enqueue(hurried, true, { priority: 3 })
  expect(await holdfast.runs.get(succeeds)).toMatchObject({ state: 'waiting', priority: 3 })
  await jobs.work({ jobs: [hurried] })
  await succeeds.result({ timeoutMs: 20_000 })
  await expect(fails.result({ timeoutMs: 20_000 })).rejects.toThrow('refused')
  expect(await holdfast.runs.get(succeeds)).toMatchObject({ state: 'succeeded', priority: null })
  expect(await holdfast.runs.get(fails)).toMatchObject({ state: 'failed', priority: 3 })
})
