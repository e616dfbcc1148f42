import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Unavailable } from '../harness/row.ts'
import { inBatches, type Payload } from '../workload/payload.ts'
import { type Contender, dueAt, type EnqueueOptions, forEachConcurrently, type Purpose } from './contender.ts'
import { hasOrderedKeys, type NewJob, openPgBoss, type Policy } from './open-pg-boss.ts'

/** Interval of polling an empty queue. */
const POLL_MS = 10

/**
 * Tried on 2 cores, PostgreSQL 18, 100,000 jobs, three interleaved passes each (k/s, lowest–highest):
 * - enqueue with `insert`: 4 × 5,000 rows 58–62 (taken), 3 × 1,000 59–61, 2 × 5,000 46–62; one connection 37–40 (15).
 * - process: 3 loops of `fetch` and `complete` with 5,000 jobs each 28–32 (taken), 2 loops 26–30, 2 loops of 2,000
 *   21–23, of 1,000 13–19 (15); `work` with 4 workers of 5,000 at the shortest polling interval 17–29. A fetch sorts
 *   all that waits, so only large batches carry it.
 * - latency: `work` at 0.5 s, the shortest interval that it accepts; pg-boss 12 with its notifications beside that.
 */
const BEST: Record<Purpose, Record<string, number>> = {
  throughput: { enqueueBatchRows: 5000, connections: 4, workers: 3, batchSize: 5000, useFetch: 1 },
  latency: { enqueueBatchRows: 1, connections: 4, workers: 1, batchSize: 100, useFetch: 0 },
}

/** Keys are those of its policies: one active job (`singleton`) or one waiting job (`short`) of each, or one after the other (`key_strict_fifo`). */
function policyFor({ orderingKey, concurrencyKey, uniqueKey }: EnqueueOptions): Policy {
  if (orderingKey !== undefined) {
    if (!hasOrderedKeys) throw new Unavailable('pg-boss 10 has no order within a key')
    return 'key_strict_fifo'
  }
  if (concurrencyKey !== undefined) return 'singleton'
  return uniqueKey === undefined ? 'standard' : 'short'
}

function newJob(payload: Payload, options: EnqueueOptions): NewJob {
  const { orderingKey, concurrencyKey, priority, uniqueKey } = options
  const key = orderingKey ?? concurrencyKey ?? uniqueKey
  const startAfter = dueAt(options)
  return {
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
    const boss = await openPgBoss(context.databaseUrl, connections)
    const client = new Client({ connectionString: context.databaseUrl })
    // What breaks it while it is idle shows at the next statement.
    client.on('error', () => {})
    await client.connect()
    const closing = new AbortController()
    const loops: Promise<void>[] = []

    /** Its documented way to bring one's own loop: no pause between batches, and the completion is awaited. */
    async function fetchLoop(handle: (payload: Payload) => void): Promise<void> {
      while (!closing.signal.aborted) {
        const jobs = await boss.fetch(batchSize)
        if (jobs.length === 0) {
          await sleep(POLL_MS)
          continue
        }
        for (const job of jobs) handle(job.data)
        await boss.complete(jobs.map((job) => job.id))
      }
    }

    return {
      settings,
      enqueueAll(payloads, options = {}) {
        return forEachConcurrently(inBatches(payloads, enqueueBatchRows), connections, async (batch) => {
          await boss.insert(batch.map((payload) => newJob(payload, options)))
        })
      },
      enqueueOne: (payload) => boss.send(payload),
      async startWorkers(handle, options = {}) {
        const policy = policyFor(options)
        if (policy !== 'standard') await boss.recreateQueue(policy)
        // With keys, a fetch that meets the key of another loop returns nothing (`singleton`) or ends in a deadlock (`key_strict_fifo`).
        const loopCount = policy === 'singleton' || policy === 'key_strict_fifo' ? 1 : workers
        for (let worker = 0; worker < loopCount; worker++) {
          if (useFetch === 1) loops.push(fetchLoop(handle))
          else await boss.work(batchSize, handle)
        }
      },
      async isDrained() {
        const result = await client.query<{ drained: boolean }>(
          `select not exists (select from pgboss.job where name = $1 and state < 'completed') as drained`,
          ['bench'],
        )
        return result.rows[0]?.drained === true
      },
      async close() {
        closing.abort()
        await Promise.all(loops)
        await client.end()
        await boss.stop()
      },
    }
  },
}
