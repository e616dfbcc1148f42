import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../../src/jobs/job.ts'
import type { JobMiddleware } from '../../../src/jobs/middleware.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { runInline } from '../../../src/sdk/job-tester.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig
let holdfast: Holdfast

beforeAll(async () => {
  jobs = await JobsRig.create()
  holdfast = jobs.rig.client()
})
afterAll(() => jobs.stop())

const numbers = (count: number) => Array.from({ length: count }, (_, input) => ({ input }))

describe('a handler that takes a batch', () => {
  it('gets what waits, up to its maximum, and each run has its own result', async () => {
    const sizes: number[] = []
    const job = defineJob({
      name: 'batched',
      queue: 'batched',
      input: z.number(),
      maxBatchRuns: 40,
      runBatch: (runs) => {
        sizes.push(runs.length)
        return runs.map(({ input }) => input * 2)
      },
    })
    const enqueued = await holdfast.enqueueBatch(job, numbers(100))
    await jobs.work({ jobs: [job], concurrency: 2 })
    await jobs.whenDone()
    expect(sizes.reduce((sum, size) => sum + size)).toBe(100)
    expect(Math.max(...sizes)).toBe(40)
    const last = await holdfast.runs.get((enqueued[99] as { id: string }).id)
    expect(last).toMatchObject({ state: 'succeeded', result: 198 })
  })

  it('fails the runs for which it returns an error, and those whose input is invalid, alone', async () => {
    const job = defineJob({
      name: 'partly',
      queue: 'partly',
      input: z.number(),
      retry: { maxRetries: 0 },
      runBatch: (runs) =>
        runs.map(({ input }) => (input % 2 === 0 ? input : new PermanentError(`odd ${input}`))),
    })
    const enqueued = await holdfast.enqueueBatch(job, numbers(4))
    await holdfast.enqueue('partly', 'no number')
    await jobs.work({ jobs: [job], concurrency: 1 })
    await jobs.whenDone()
    const states = await Promise.all(enqueued.map(async ({ id }) => (await holdfast.runs.get(id)).state))
    expect(states).toEqual(['succeeded', 'failed', 'succeeded', 'failed'])
    expect((await holdfast.runs.list({ job: 'partly', state: 'failed' })).length).toBe(3)
  })

  it('fails all of its runs when it throws, or returns another number of results, and they are retried', async () => {
    let calls = 0
    const job = defineJob({
      name: 'throwing',
      queue: 'throwing',
      retry: { strategy: 'fixed', baseDelayMs: 1, jitter: 'none', maxRetries: 2 },
      runBatch: (runs) => {
        calls += 1
        if (calls === 1) throw new Error('not now')
        return calls === 2 ? [] : runs.map(() => 'done')
      },
    })
    const enqueued = await holdfast.enqueueBatch(job, numbers(5))
    await jobs.work({ jobs: [job], concurrency: 1 })
    await jobs.whenDone()
    const attempts = (await holdfast.runs.get((enqueued[0] as { id: string }).id)).attempts
    expect(attempts.map(({ error }) => error)).toEqual([
      'Error: not now',
      'Error: runBatch of the job "throwing" returned 0 results for 5 runs. Return one result for each run, in their order, or nothing.',
      null,
    ])
  })

  it('has one slot for all of its runs, and a cancelled one of them ends as cancelled', async () => {
    let open = () => {}
    const signals: AbortSignal[] = []
    let handlers = 0
    const job = defineJob({
      name: 'shared-slot',
      queue: 'shared-slot',
      maxBatchRuns: 10,
      runBatch: async (runs) => {
        handlers += 1
        signals.push(...runs.map(({ context }) => context.signal))
        await new Promise<void>((resolve) => {
          open = resolve
        })
      },
    })
    const enqueued = await holdfast.enqueueBatch(job, numbers(25))
    await jobs.work({ jobs: [job], concurrency: 1, limits: { cancelGraceMs: 50 } })
    await until(
      'the first batch',
      () => signals.length,
      (count) => count === 10,
    )
    expect(handlers).toBe(1)
    await holdfast.runs.cancel((enqueued[3] as { id: string }).id)
    await until(
      'the signal of the cancelled run',
      () => signals[3]?.aborted,
      (isAborted) => isAborted === true,
    )
    expect(signals.filter(({ aborted }) => aborted)).toHaveLength(1)
    const state = async () => (await holdfast.runs.get((enqueued[3] as { id: string }).id)).state
    await until('the cancelled run to end', state, (is) => is === 'cancelled')
    await until(
      'all to have begun',
      () => (open(), signals.length),
      (count) => count === 25,
    )
    open()
    await jobs.whenDone()
    expect(handlers).toBe(3)
  })

  it('is called with one run by runInline, and refuses run and isolation beside it', async () => {
    const job = defineJob({ name: 'inline', runBatch: (runs) => runs.map(({ input }) => [input]) })
    expect((await runInline(job, 7)).result).toEqual([7])
    const both = { name: 'both', run: () => 1, runBatch: () => undefined } as unknown as { name: string }
    expect(() => defineJob(both)).toThrow('runBatch: cannot be combined with run')
    const isolated = {
      name: 'x',
      runBatch: () => undefined,
      isolation: 'thread',
      module: 'x.js',
    } as unknown as { name: string }
    expect(() => defineJob(isolated)).toThrow('run: name the module')
  })
})

describe('a handler that takes a batch, whose results can not be read,', () => {
  it('fails its runs, and the worker goes on', async () => {
    const job = defineJob({
      name: 'unreadable',
      queue: 'unreadable',
      retry: { maxRetries: 0 },
      runBatch: (runs) =>
        Object.defineProperty(
          runs.map(() => 1),
          0,
          {
            get: () => {
              throw new Error('not for you')
            },
          },
        ),
    })
    const { id } = await holdfast.enqueue(job, 1)
    await jobs.work({ jobs: [job] })
    await jobs.whenDone()
    expect(await holdfast.runs.get(id)).toMatchObject({ state: 'failed', error: 'Error: not for you' })
  })
})

describe('middleware', () => {
  it('is called around every handler, the first outermost, and sees input, context and result', async () => {
    const said: string[] = []
    const named =
      (name: string): JobMiddleware =>
      async ({ job, runs }, next) => {
        said.push(`${name} before ${job} ${JSON.stringify(runs.map(({ input }) => input))}`)
        const result = await next()
        said.push(`${name} after ${JSON.stringify(result)}`)
        return { seenBy: name, result }
      }
    const single = defineJob({ name: 'wrapped', queue: 'wrapped', run: (input) => `did ${String(input)}` })
    const run = await holdfast.enqueue(single, 7)
    await jobs.work({ jobs: [single], middleware: [named('outer'), named('inner')] })
    await jobs.whenDone()
    expect(said).toEqual([
      'outer before wrapped [7]',
      'inner before wrapped [7]',
      'inner after "did 7"',
      'outer after {"seenBy":"inner","result":"did 7"}',
    ])
    expect((await holdfast.runs.get(run.id)).result).toEqual({
      seenBy: 'outer',
      result: { seenBy: 'inner', result: 'did 7' },
    })
  })

  it('wraps isolated handlers and batches, and fails their runs by throwing', async () => {
    const module = new URL('../../support/handlers/isolated.mjs', import.meta.url)
    const isolated = defineJob({ name: 'wrapped-thread', queue: 'wrapped-2', isolation: 'thread', module })
    const batched = defineJob({ name: 'wrapped-batch', queue: 'wrapped-2', runBatch: () => undefined })
    const calls: string[] = []
    const refusing: JobMiddleware = ({ job, runs }, next) => {
      calls.push(`${job} ${runs.length}`)
      if (job === 'wrapped-batch') throw new PermanentError('not on Sundays')
      return next()
    }
    await holdfast.enqueueBatch(batched, numbers(3))
    const run = await holdfast.enqueue(isolated, { does: 'nothing' })
    await jobs.work({ jobs: [isolated, batched], middleware: [refusing] })
    await jobs.whenDone()
    expect(calls).toContain('wrapped-batch 3')
    expect(calls).toContain('wrapped-thread 1')
    const failed = await holdfast.runs.list({ job: 'wrapped-batch', state: 'failed' })
    expect(failed.map(({ error }) => error)).toEqual(
      Array.from({ length: 3 }, () => 'PermanentError: not on Sundays'),
    )
    expect((await holdfast.runs.get(run.id)).state).toBe('succeeded')
  })
})
