import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'amqplib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { encodeMessage } from '../../../src/broker/protocol.ts'
import { sharedKey, topologyNames } from '../../../src/broker/topology.ts'
import { createWorker, defineJob } from '../../../src/index.ts'
import type { JobOf } from '../../../src/jobs/job.ts'
import { brokerUrl } from '../../support/amqp/broker.ts'
import { BrokerFleet } from '../../support/amqp/broker-fleet.ts'
import { until } from '../../support/engine/until.ts'
import { CuttingProxy } from '../../support/processes/cutting-proxy.ts'

const numbered = z.object({ n: z.number() })

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

test('a worker over a broker that nobody can reach does not start, and says which', async () => {
  const work = defineJob({ input: numbered, name: 'work', queue: 'work', run: async () => {} })
  await expect(
    createWorker({ amqpUrl: 'amqp://user:secret@127.0.0.1:1', jobs: [work], journalFolder: null }),
  ).rejects.toThrow(/^amqp:\/\/127\.0\.0\.1:1\/%2F: .*ECONNREFUSED/)
})

test('a worker over a broker refuses a URL that is none', () => {
  return expect(createWorker({ amqpUrl: 'http://rabbit.example', jobs: [] })).rejects.toThrow(
    'The URL of the broker must begin with amqp:// or amqps://.',
  )
})

describe.skipIf(brokerUrl === null)('a worker over the broker', { timeout: 240_000 }, () => {
  let fleet: BrokerFleet

  beforeEach(async () => {
    fleet = await BrokerFleet.create()
  }, 120_000)

  afterEach(async () => {
    await fleet.stop()
  }, 120_000)

  /** A job whose runs end when the test says so. */
  function waitingJob() {
    const ran: number[] = []
    const ends = new Map<number, () => void>()
    const job = defineJob({
      input: numbered,
      name: 'work',
      queue: 'work',
      run: async ({ n }) => {
        ran.push(n)
        await new Promise<void>((resolve) => ends.set(n, resolve))
        return { n }
      },
    })
    return { job, ran, end: (n: number) => ends.get(n)?.() }
  }

  const enqueue = (job: JobOf<{ n: number }>, count: number) =>
    fleet.holdfast.enqueueBatch(
      job,
      numbers(count).map((n) => ({ input: { n } })),
    )

  /** Sends the only run to a worker, under a claim that doesn't exist. */
  async function publishStale(job: string): Promise<void> {
    const [run] = await fleet.rows<{ id: number; laneId: number; jobId: number; body: string }>(`
      select run.id::float8, run.lane_id as "laneId", run.job_id as "jobId", message.body::text
      from holdfast_internal.runs as run join holdfast_internal.messages as message on message.id = run.id`)
    const message = encodeMessage({
      kind: 'dispatch',
      run: {
        ...run!,
        messageId: run!.id,
        claimId: 1,
        attempt: 0,
        crashes: 0,
        expiresAtMs: null,
        correlationId: null,
        headers: null,
        metadata: null,
        orderingKey: null,
      },
      job: { name: job, settings: {} },
    })
    const connection = await connect(fleet.amqpUrl)
    const channel = await connection.createConfirmChannel()
    channel.publish(topologyNames(fleet.prefix).dispatch, sharedKey('work', job), message)
    await channel.waitForConfirms()
    await connection.close()
  }

  const storedResults = async () =>
    (
      await fleet.rows<{ n: number }>(
        `select (detail -> 'result' ->> 'n')::int as n from holdfast_internal.attempts where outcome = 1 order by 1`,
      )
    ).map(({ n }) => n)

  test('executes runs without a database connection, and their results are stored once', async () => {
    const ran: number[] = []
    const job = defineJob({
      input: numbered,
      name: 'work',
      queue: 'work',
      run: async ({ n }) => {
        ran.push(n)
        return { n }
      },
    })
    await fleet.work({ jobs: [job], concurrency: 5 })
    await enqueue(job, 100)
    await fleet.whenDone()
    expect(ran.sort((a, b) => a - b)).toEqual(numbers(100))
    expect(await storedResults()).toEqual(numbers(100))
  })

  test('shows progress and log lines while a run is at work, and hears of its cancellation', async () => {
    const job = defineJob({
      input: numbered,
      name: 'slow',
      queue: 'work',
      run: async (_, { signal, progress, logger }) => {
        progress(0.5)
        logger.info('half-way')
        await new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        )
      },
    })
    await fleet.work({ jobs: [job], limits: { heartbeatMs: 200, progressMs: 50 } })
    const { id: runId } = await fleet.holdfast.enqueue(job, { n: 1 })
    await until(
      'its progress',
      async () =>
        (await fleet.rows<{ progress: number }>('select progress from holdfast_internal.run_progress'))[0],
      (row) => row?.progress === 0.5,
    )
    await fleet.holdfast.runs.cancel(runId, 'enough')
    await fleet.whenDone()
    expect((await fleet.holdfast.runs.get(runId))?.state).toBe('cancelled')
  })

  test('retries by the settings that it declared when it joined', async () => {
    const attempts: number[] = []
    const job = defineJob({
      input: numbered,
      name: 'failing',
      queue: 'work',
      retry: { strategy: 'fixed', baseDelayMs: 20, maxRetries: 2, jitter: 'none' },
      run: async (_, { attempt }) => {
        attempts.push(attempt)
        throw new Error('not today')
      },
    })
    await fleet.work({ jobs: [job] })
    await enqueue(job, 1)
    await fleet.whenDone()
    expect(attempts).toEqual([1, 2, 3])
    expect(await fleet.rows('select error from holdfast_internal.dead_letters')).toEqual([
      { error: 'Error: not today' },
    ])
  })

  test('hands back at a stop what has not begun; another worker executes it as new', async () => {
    const first = waitingJob()
    // A lease longer than the test: only its own word ends the worker.
    const limits = { leaseMs: 300_000 }
    const stopping = await fleet.work({ jobs: [first.job], concurrency: 1, name: 'first', limits })
    await enqueue(first.job, 4)
    await until(
      'one to run',
      () => first.ran.length,
      (count) => count === 1,
    )
    const stopped = stopping.stop()
    first.end(first.ran[0] ?? 0)
    await stopped
    await until(
      'the node to read that it has left',
      () => fleet.rows(`select from holdfast_internal.workers where name = 'first'`),
      (workers) => workers.length === 0,
    )
    const second = waitingJob()
    await fleet.work({ jobs: [second.job], concurrency: 4, name: 'second' })
    await until(
      'the others to run',
      () => second.ran.length,
      (count) => count === 3,
    )
    for (const n of second.ran) second.end(n)
    await fleet.whenDone()
    expect(await storedResults()).toEqual(numbers(4))
    const tried = await fleet.rows<{ attempt: number }>(
      'select distinct attempt from holdfast_internal.attempts',
    )
    expect(tried).toEqual([{ attempt: 1 }])
  })

  test('keeps results in its journal while the broker is cut off, and hands them in when it is back', async () => {
    await using proxy = await CuttingProxy.start(fleet.amqpUrl)
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-broker-worker-'))
    const { job, ran, end } = waitingJob()
    const worker = await fleet.work({
      jobs: [job],
      concurrency: 3,
      amqpUrl: proxy.url,
      journalFolder: folder,
    })
    await enqueue(job, 3)
    await until(
      'all to run',
      () => ran.length,
      (count) => count === 3,
    )
    proxy.swallow()
    proxy.cutAll()
    for (const n of numbers(3)) end(n)
    await until(
      'all to end',
      () => worker.completed,
      (count) => count === 3,
    )
    await until(
      'the worker to say so',
      () => fleet.complaints.some((line) => line.startsWith('The broker is unavailable')),
      Boolean,
    )
    expect(await storedResults()).toEqual([])
    proxy.carry()
    await fleet.whenDone()
    expect(await storedResults()).toEqual(numbers(3))
    expect(ran).toHaveLength(3)
    await rm(folder, { recursive: true, force: true })
  })

  test('consumes again after its queues were deleted', async () => {
    const { job, ran, end } = waitingJob()
    await fleet.work({ jobs: [job], concurrency: 2, name: 'press' })
    const connection = await connect(fleet.amqpUrl)
    const channel = await connection.createChannel()
    for (const queue of ['queue.work', 'worker.press']) await channel.deleteQueue(`${fleet.prefix}.${queue}`)
    await connection.close()
    await until(
      'the worker to say so',
      () => fleet.complaints.some((line) => line.startsWith('A queue of the worker was deleted')),
      Boolean,
    )
    await enqueue(job, 2)
    await until(
      'both to run',
      () => ran.length,
      (count) => count === 2,
    )
    for (const n of ran) end(n)
    await fleet.whenDone()
    expect(await storedResults()).toEqual(numbers(2))
  })

  test('executes a run once when the confirm of its start is lost', async () => {
    await using proxy = await CuttingProxy.start(fleet.amqpUrl)
    const { job, ran, end } = waitingJob()
    await fleet.work({ jobs: [job], concurrency: 2, amqpUrl: proxy.url })
    const lost = proxy.loseNextAnswer('"kind":"starts"')
    await enqueue(job, 2)
    await lost
    await until(
      'both to run',
      () => new Set(ran).size,
      (count) => count === 2,
    )
    for (const n of ran) end(n)
    await fleet.whenDone()
    expect(ran).toHaveLength(2)
    expect(await storedResults()).toEqual(numbers(2))
  })

  test('a handler that is aborted because its start was refused does not end the run, which its worker has claimed again', async () => {
    const calls: { readonly signal: AbortSignal; readonly end: () => void }[] = []
    const job = defineJob({
      input: numbered,
      name: 'work',
      queue: 'work',
      run: async ({ n }, { signal }) => {
        await new Promise<void>((resolve) => calls.push({ signal, end: resolve }))
        signal.throwIfAborted()
        return { n }
      },
    })
    await fleet.work({ jobs: [job], concurrency: 2 })
    const { id: runId } = await fleet.holdfast.enqueue(
      job,
      { n: 1 },
      { runAt: new Date(Date.now() + 3_600_000) },
    )
    // As if a message arrived after its run had returned to the queue: the start is refused while the handler is running.
    await publishStale(job.name)
    await until(
      'the handler to be aborted',
      () => calls[0]?.signal.aborted,
      (isAborted) => isAborted === true,
    )
    // Now the run is due, and the same worker claims it while the handler is still running.
    await fleet.rows('update holdfast_internal.runs set due_at = now()')
    await until(
      'the run to be started again',
      () => fleet.rows('select from holdfast_internal.run_claims where worker > 0'),
      (held) => held.length === 1,
    )
    calls[0]?.end()
    await until(
      'the handler to be called again',
      () => calls.length,
      (count) => count === 2,
    )
    calls[1]?.end()
    await fleet.whenDone()
    expect((await fleet.holdfast.runs.get(runId))?.state).toBe('succeeded')
  })
})
