import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import PgBoss from 'pg-boss'
import { Unavailable } from '../harness/row.ts'
import { inBatches, type Payload } from '../workload/payload.ts'
import { type Contender, dueAt, type EnqueueOptions, forEachConcurrently, type Purpose } from './contender.ts'

const QUEUE = 'bench'
/** Interval of polling an empty queue. */
const POLL_MS = 10

/**
 * Tried on 2 cores, PostgreSQL 18, 100,000 jobs, three interleaved passes each (k/s, lowest–highest):
 * - enqueue with `insert`: 4 × 5,000 rows 58–62 (taken), 3 × 1,000 59–61, 2 × 5,000 46–62; one connection 37–40 (15).
 * - process: 3 loops of `fetch` and `complete` with 5,000 jobs each 28–32 (taken), 2 loops 26–30, 2 loops of 2,000
 *   21–23, of 1,000 13–19 (15); `work` with 4 workers of 5,000 at the shortest polling interval 17–29. A fetch sorts
 *   all that waits, so only large batches carry it.
 * - latency: `work` at 0.5 s, the shortest interval that it accepts.
 */
const BEST: Record<Purpose, Record<string, number>> = {
  throughput: { enqueueBatchRows: 5000, connections: 4, workers: 3, batchSize: 5000, useFetch: 1 },
  latency: { enqueueBatchRows: 1, connections: 4, workers: 1, batchSize: 100, useFetch: 0 },
}

/** Keys use its singletons: one active job (`singleton`) or one waiting job (`short`) per key. */
function insertSpec(payload: Payload, options: EnqueueOptions) {
  const { orderingKey, concurrencyKey, priority, uniqueKey } = options
  if (orderingKey !== undefined) throw new Unavailable('pg-boss has no order within a key')
  const key = concurrencyKey ?? uniqueKey
  const startAfter = dueAt(options)
  return {
    name: QUEUE,
    data: payload,
    ...(startAfter !== undefined && { startAfter }),
    ...(priority !== undefined && { priority: priority(payload.sequence) }),
    ...(key !== undefined && { singletonKey: key(payload.sequence) }),
  }
}

export const pgBoss: Contender = {
  name: 'pg-boss',
  async open(context, purpose) {
    const settings = { ...BEST[purpose], ...context.overrides } as Record<string, number>
    const { enqueueBatchRows = 1, connections = 1, workers = 1, batchSize = 1, useFetch = 0 } = settings
    const boss = new PgBoss({
      connectionString: context.databaseUrl,
      max: connections,
      schedule: false,
      supervise: false,
    })
    boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`))
    await boss.start()
    await boss.createQueue(QUEUE)
    const client = new Client({ connectionString: context.databaseUrl })
    // An error of an idle connection shows at the next statement.
    client.on('error', () => {})
    await client.connect()
    const closing = new AbortController()
    const loops: Promise<void>[] = []

    /** A custom loop as its documentation describes it: no pause between batches, and the completion is awaited. */
    async function fetchLoop(handle: (payload: Payload) => void): Promise<void> {
      while (!closing.signal.aborted) {
        const jobs = await boss.fetch<Payload>(QUEUE, { batchSize })
        if (jobs.length === 0) {
          await sleep(POLL_MS)
          continue
        }
        for (const job of jobs) handle(job.data)
        await boss.complete(
          QUEUE,
          jobs.map((job) => job.id),
        )
      }
    }

    return {
      settings,
      enqueueAll(payloads, options = {}) {
        return forEachConcurrently(inBatches(payloads, enqueueBatchRows), connections, async (batch) => {
          await boss.insert(batch.map((payload) => insertSpec(payload, options)))
        })
      },
      async enqueueOne(payload) {
        await boss.send(QUEUE, payload)
      },
      async startWorkers(handle, { concurrencyKey, uniqueKey } = {}) {
        if (concurrencyKey !== undefined) await boss.updateQueue(QUEUE, { name: QUEUE, policy: 'singleton' })
        if (uniqueKey !== undefined) await boss.updateQueue(QUEUE, { name: QUEUE, policy: 'short' })
        // A fetch that meets a key of another loop returns nothing at all.
        const loopCount = concurrencyKey === undefined ? workers : 1
        for (let worker = 0; worker < loopCount; worker++) {
          if (useFetch === 1) {
            loops.push(fetchLoop(handle))
            continue
          }
          await boss.work<Payload>(QUEUE, { batchSize, pollingIntervalSeconds: 0.5 }, (jobs) => {
            for (const job of jobs) handle(job.data)
            return Promise.resolve()
          })
        }
      },
      async isDrained() {
        const result = await client.query<{ drained: boolean }>(
          `select not exists (select from pgboss.job where name = $1 and state < 'completed') as drained`,
          [QUEUE],
        )
        return result.rows[0]?.drained === true
      },
      async close() {
        closing.abort()
        await Promise.all(loops)
        await client.end()
        await boss.stop({ graceful: false, wait: true })
      },
    }
  },
}
