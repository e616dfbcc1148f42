import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { redisVersion } from '../harness/redis-keys.ts'
import { Unavailable } from '../harness/row.ts'
import { inBatches, type Payload } from '../workload/payload.ts'
import { type Contender, type EnqueueOptions, forEachConcurrently, type Purpose } from './contender.ts'

const QUEUE = 'bench'

/**
 * Tried on 2 cores, Redis 7 in memory, 100,000 jobs, two or three passes each (k/s, lowest–highest):
 * - enqueue with `addBulk`: 4 connections × 1,000 22–35 (taken), 2 × 1,000 21–26, 2 × 200 22–28, 2 × 5,000 17–33,
 *   1 × 1,000 17–25.
 * - process: 4 workers × 25 10–21 (taken), 2 × 100 9–21 with the same median, 3 × 50 8–20, 2 × 300 14–18,
 *   1 × 100 13–16; completed jobs kept instead of removed 17–18.
 * - latency p50 (ms): concurrency 1 1.1–1.4 (taken), concurrency 100 1.2–1.7.
 */
const BEST: Record<Purpose, Record<string, number>> = {
  throughput: {
    enqueueBatchRows: 1000,
    enqueueConnections: 4,
    workers: 4,
    concurrency: 25,
    keepCompleted: 0,
  },
  latency: { enqueueBatchRows: 1, enqueueConnections: 1, workers: 1, concurrency: 1, keepCompleted: 0 },
}

/** Ordered groups are part of its paid edition. A low number is a high priority. */
function jobOptions({ sequence }: Payload, options: EnqueueOptions) {
  const { orderingKey, concurrencyKey, deliverAt, delayMs, priority, uniqueKey } = options
  if (orderingKey !== undefined || concurrencyKey !== undefined) throw new Unavailable('BullMQ has no keys')
  const delay = delayMs ?? (deliverAt === undefined ? undefined : deliverAt.getTime() - Date.now())
  return {
    ...(delay !== undefined && { delay }),
    ...(priority !== undefined && { priority: 4 - priority(sequence) }),
    ...(uniqueKey !== undefined && { jobId: uniqueKey(sequence) }),
  }
}

export const bullmq: Contender = {
  name: 'bullmq',
  async open(context, purpose) {
    if ((await redisVersion(context.redisUrl)) === undefined) throw new Unavailable('no Redis answers')
    const settings = { ...BEST[purpose], ...context.overrides } as Record<string, number>
    const {
      enqueueBatchRows = 1,
      enqueueConnections = 1,
      workers = 1,
      concurrency = 1,
      keepCompleted = 0,
    } = settings
    const connect = () => new Redis(context.redisUrl, { maxRetriesPerRequest: null })
    const connections: Redis[] = []
    const queues = await Promise.all(
      Array.from({ length: enqueueConnections }, async () => {
        const connection = connect()
        connections.push(connection)
        const queue = new Queue<Payload>(QUEUE, {
          connection,
          prefix: context.redisPrefix,
          defaultJobOptions: { removeOnComplete: keepCompleted === 0 },
        })
        await queue.waitUntilReady()
        return queue
      }),
    )
    const [queue] = queues
    if (queue === undefined) throw new Error('enqueueConnections must be at least 1')
    const running: Worker[] = []
    let turn = 0
    return {
      settings,
      enqueueAll(payloads, options = {}) {
        return forEachConcurrently(
          inBatches(payloads, enqueueBatchRows),
          enqueueConnections,
          async (batch) => {
            const target = queues[turn++ % queues.length] ?? queue
            await target.addBulk(
              batch.map((data) => ({ name: QUEUE, data, opts: jobOptions(data, options) })),
            )
          },
        )
      },
      async enqueueOne(payload) {
        await queue.add(QUEUE, payload)
      },
      async startWorkers(handle) {
        for (let index = 0; index < workers; index++) {
          const connection = connect()
          connections.push(connection)
          const worker = new Worker<Payload>(
            QUEUE,
            (job) => {
              handle(job.data)
              return Promise.resolve()
            },
            { connection, prefix: context.redisPrefix, concurrency },
          )
          worker.on('error', (error) => process.stderr.write(`bullmq: ${error.message}\n`))
          running.push(worker)
        }
        await Promise.all(running.map((worker) => worker.waitUntilReady()))
      },
      async isDrained() {
        const counts = await queue.getJobCounts('waiting', 'active', 'prioritized', 'delayed')
        return Object.values(counts).every((count) => count === 0)
      },
      async close() {
        await Promise.all(running.map((worker) => worker.close()))
        await Promise.all(queues.map((queue) => queue.close()))
        for (const connection of connections) connection.disconnect()
      },
    }
  },
}
