import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import type { JobWorker } from '../../../src/jobs/worker.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import { until } from '../../support/engine/until.ts'
import { JobsRig } from '../../support/jobs-rig.ts'
import {
  startTransactionPoolingProxy,
  type TransactionPoolingProxy,
} from '../../support/transaction-pooling-proxy.ts'

let jobs: JobsRig
let proxy: TransactionPoolingProxy
let holdfast: Holdfast
const workers: JobWorker[] = []

beforeAll(async () => {
  jobs = await JobsRig.create()
  proxy = await startTransactionPoolingProxy(jobs.rig.database.url, { poolSize: 4 })
  holdfast = new Holdfast({ databaseUrl: proxy.url, maxConnections: 2 })
})

afterAll(async () => {
  await Promise.all([holdfast.stop(), ...workers.map((worker) => worker.stop())])
  // Its connections to the server outlive its clients'.
  await proxy.stop()
  await jobs.stop()
})

async function work(options: Parameters<JobsRig['work']>[0]): Promise<void> {
  workers.push(await jobs.work({ databaseUrl: proxy.url, ...options }))
}

interface Input {
  readonly n: number
  readonly key?: string
}

/** Two workers that share four connections of a pool in transaction mode: nothing of a session reaches them. */
test('workers behind a pool in transaction mode lose nothing, run nothing twice, and keep the order of keys', async () => {
  const ended: Input[] = []
  const failedOnce = new Set<number>()
  const out = new Map<string, number>()
  let mostOfAKey = 0
  const job = defineJob({
    name: 'pooled',
    retry: { strategy: 'fixed', baseDelayMs: 5, maxRetries: 3, jitter: 'none' },
    run: async (input) => {
      const { n, key } = input as Input
      if (key !== undefined) {
        out.set(key, (out.get(key) ?? 0) + 1)
        mostOfAKey = Math.max(mostOfAKey, out.get(key) ?? 0)
        await new Promise((resolve) => setTimeout(resolve, 2))
        out.set(key, (out.get(key) ?? 0) - 1)
      }
      if (n % 7 === 0 && !failedOnce.has(n)) {
        failedOnce.add(n)
        throw new Error('once more')
      }
      ended.push({ n, ...(key !== undefined && { key }) })
    },
  })
  await work({ jobs: [job], name: 'first', concurrency: 5 })
  await work({ jobs: [job], name: 'second', concurrency: 5 })
  await holdfast.enqueueBatch(
    job,
    Array.from({ length: 300 }, (_, n) => {
      const key = n % 3 === 0 ? `key-${n % 2}` : undefined
      return {
        input: { n, ...(key !== undefined && { key }) },
        ...(key !== undefined && { orderingKey: key }),
        ...(n % 3 === 1 && { delayMs: n % 50, priority: n % 4 }),
      }
    }),
  )
  await jobs.whenDone(25_000)
  expect(ended.map(({ n }) => n).sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, n) => n))
  expect(mostOfAKey).toBe(1)
  for (const key of ['key-0', 'key-1']) {
    const order = ended.filter((each) => each.key === key).map(({ n }) => n)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  }
})

test('cancelling reaches a handler behind such a pool', async () => {
  let began = 0
  const job = defineJob({
    name: 'cancelled',
    queue: 'cancelled',
    run: async (_input, { signal }) => {
      began += 1
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    },
  })
  await work({ jobs: [job], name: 'third', limits: { heartbeatMs: 100 } })
  const { id } = await holdfast.enqueue(job, {})
  await until('it to begin', () => began)
  await holdfast.runs.cancel(id)
  await jobs.whenDone()
  expect((await holdfast.runs.get(id)).state).toBe('cancelled')
})
