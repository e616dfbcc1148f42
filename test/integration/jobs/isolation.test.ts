import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../../src/jobs/job.ts'
import type { JobWorker } from '../../../src/jobs/worker.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { runInline } from '../../../src/sdk/job-tester.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

const module = new URL('../../support/handlers/isolated.mjs', import.meta.url)
const input = z.looseObject({ at: z.coerce.date().optional() })
const retry = { strategy: 'fixed', baseDelayMs: 1, maxRetries: 0, jitter: 'none' } as const

const jobOf = (isolation: 'thread' | 'process') =>
  defineJob({
    name: `in-${isolation}`,
    input,
    retry,
    isolation,
    module,
    memoryLimitMb: 64,
    timeoutMs: 60_000,
    autoDisable: { threshold: null },
  })

describe.each(['thread', 'process'] as const)('a handler in a %s', (isolation) => {
  let jobs: JobsRig
  let holdfast: Holdfast
  let worker: JobWorker
  const job = jobOf(isolation)
  const hasty = defineJob({
    name: `hasty-${isolation}`,
    input,
    retry,
    isolation,
    module,
    timeoutMs: 300,
    autoDisable: { threshold: null },
  })
  const lost = defineJob({
    name: `lost-${isolation}`,
    retry,
    isolation,
    module: new URL('../../support/handlers/none.mjs', import.meta.url),
  })

  beforeAll(async () => {
    jobs = await JobsRig.create()
    holdfast = jobs.rig.client()
    worker = await jobs.work({
      jobs: [job, hasty, lost],
      concurrency: 4,
      limits: { heartbeatMs: 100, killGraceMs: 300, cancelGraceMs: 500, progressMs: 20, stopTimeoutMs: 1000 },
    })
  })
  afterAll(() => jobs.stop())

  const ended = (id: string) =>
    until(
      'its end',
      () => holdfast.runs.get(id),
      ({ state }) => !['waiting', 'running', 'scheduled'].includes(state),
      20_000,
    )
  const run = async (given: z.input<typeof input>, of = job) => {
    const { id } = await holdfast.enqueue(of, given, { metadata: { from: 'here' }, correlationId: 'order-1' })
    return ended(id)
  }

  test('gets its input and its context, and its result is kept', async () => {
    const done = await run({ at: '2030-01-01T00:00:00Z' })
    const result = done.result as Record<string, unknown>
    expect(done.state).toBe('succeeded')
    expect(result).toMatchObject({
      at: 'date',
      id: done.id,
      attempt: 1,
      crashes: 0,
      correlationId: 'order-1',
      metadata: { from: 'here' },
      deadline: true,
    })
    expect(result['pid'] === process.pid).toBe(isolation === 'thread')
    expect(result['threadId'] !== 0).toBe(isolation === 'thread')
  })

  test('reports progress and log lines, the last of them included', async () => {
    expect(await run({ does: 'tell' })).toMatchObject({
      state: 'succeeded',
      progress: 1,
      logs: [
        { level: 'info', message: 'began' },
        { level: 'warn', message: 'half way', details: { n: 1 } },
      ],
    })
  })

  test.each(['tell-and-exit', 'tell-and-block'])(
    'keeps all that it reported before its end by force: %s',
    async (does) => {
      // In the same thread or process, a moment after another run's report.
      await run({ does: 'tell' }, hasty)
      const { progress, logs } = await run({ does }, hasty)
      expect(progress).toBe(0.5)
      expect(logs).toMatchObject([1, 2, 3, 4, 5].map((step) => ({ message: `step ${step}` })))
    },
  )

  test('is executed in the same one again, until one has crashed', async () => {
    const place = async () => {
      const { result } = await run({})
      const { pid, threadId } = result as { pid: number; threadId: number }
      return `${pid} ${threadId}`
    }
    const first = await place()
    expect(await place()).toBe(first)
    expect(await run({ does: 'exit' })).toMatchObject({ state: 'failed' })
    expect(await place()).not.toBe(first)
  })

  test.each([
    [
      'throws',
      { does: 'throw', name: 'OrderError' },
      { errorCode: 'E_ORDER', error: 'OrderError: no such order' },
    ],
    ['throws for good', { does: 'throw', name: 'PermanentError' }, { errorCode: 'E_ORDER' }],
    ['throws a value without text', { does: 'throw-nothing' }, { error: 'a value that has no text' }],
    [
      'fails outside of its promise',
      { does: 'crash' },
      { errorCode: 'handler_crashed', error: 'Error: outside of the handler' },
    ],
    ['throws null outside of its promise', { does: 'crash-with-null' }, { errorCode: 'handler_crashed' }],
    [
      'exits',
      { does: 'exit' },
      { errorCode: 'handler_exited', error: `The handler ended its ${isolation} with code 3.` },
    ],
    [
      'leaks',
      { does: 'leak' },
      {
        errorCode: 'out_of_memory',
        error: `The ${isolation} of the handler needed more than its memory limit of 64 MB.`,
      },
    ],
  ])('that %s fails its run, and the worker goes on', async (_, given, expected) => {
    expect(await run(given)).toMatchObject({ state: 'failed', ...expected })
    expect(await run({})).toMatchObject({ state: 'succeeded' })
    expect(worker.isFenced).toBe(false)
  })

  test.each([null, 'ready', { progress: 1 }, { kind: 'succeeded', hasResult: false }])(
    'that sends %j to its worker by itself goes on to its own end',
    async (message) => {
      expect(await run({ does: 'send', message })).toMatchObject({ state: 'succeeded', result: 'sent' })
    },
  )

  test('that returns what can not be stored succeeds without a result', async () => {
    expect(await run({ does: 'return' })).toMatchObject({ state: 'succeeded', result: null })
  })

  test('that never yields is killed after its time-out, while others go on', async () => {
    const { id } = await holdfast.enqueue(hasty, { does: 'block' })
    expect(await run({})).toMatchObject({ state: 'succeeded' })
    expect(await ended(id)).toMatchObject({
      state: 'timed_out',
      error: 'The handler took longer than 300 ms.',
    })
    expect(await run({}, hasty)).toMatchObject({ state: 'succeeded' })
  })

  test('that gives way at its time-out ends as timed out', async () => {
    expect(await run({ does: 'until-told' }, hasty)).toMatchObject({ state: 'timed_out' })
  })

  test.each(['until-told', 'deaf'])(
    'is told of a cancellation, and killed if it does not care: %s',
    async (does) => {
      const { id } = await holdfast.enqueue(job, { does })
      await until(
        'it to begin',
        () => holdfast.runs.get(id),
        ({ progress }) => progress === 'waits',
      )
      await holdfast.runs.cancel(id)
      expect(await ended(id)).toMatchObject({ state: 'cancelled' })
    },
  )

  test('whose module exports none fails its runs, and the error says what to export', async () => {
    const { id } = await holdfast.enqueue(lost, {})
    expect((await ended(id)).error).toMatch(/none\.mjs exports no handler: export a function/)
  })

  test('can be tried inline', async () => {
    expect((await runInline(job, {})).result).toMatchObject({
      pid: process.pid,
      threadId: expect.any(Number),
    })
  })
})
