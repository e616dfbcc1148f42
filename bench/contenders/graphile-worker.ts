import type * as graphileWorkerModule from 'graphile-worker'
import { Pool } from 'pg'
import { inBatches, type Payload } from '../workload/payload.ts'
import { type Contender, dueAt, type EnqueueOptions, forEachConcurrently, type Purpose } from './contender.ts'

const TASK = 'bench'

const ADD_JOBS = `
  select id from graphile_worker.add_jobs(
    array(select json_populate_recordset(null::graphile_worker.job_spec, $1::json)))`

/** The release that supports this Node.js version. */
const { Logger, makeWorkerUtils, run } = (
  Number.parseInt(process.versions.node, 10) >= 24
    ? await import('graphile-worker-0.18')
    : await import('graphile-worker')
) as typeof graphileWorkerModule

const silentLogger = new Logger(() => () => {})

/** Its named queues serve as ordering and concurrency keys: one job per name at a time, in order. A low number is a high priority. */
function jobSpec(payload: Payload, options: EnqueueOptions) {
  const { orderingKey, concurrencyKey, priority, uniqueKey } = options
  const key = orderingKey ?? concurrencyKey
  const runAt = dueAt(options)
  return {
    identifier: TASK,
    payload,
    ...(runAt !== undefined && { run_at: runAt.toISOString() }),
    ...(key !== undefined && { queue_name: key(payload.sequence) }),
    ...(priority !== undefined && { priority: -priority(payload.sequence) }),
    ...(uniqueKey !== undefined && { job_key: uniqueKey(payload.sequence) }),
  }
}

/**
 * Tried on 2 cores, PostgreSQL 18, 100,000 jobs, three interleaved passes each (k/s, lowest–highest):
 * - enqueue, SQL `add_jobs` that returns ids: 2 × 5,000 rows 85–97 (taken), 3 × 5,000 91–102, 3 × 1,000 89–94; with
 *   `count(*)` in place of the ids 91–98; `addJobs` of its JavaScript API, which reads whole rows back, 63–68.
 *   On PostgreSQL 15: one connection 65–80, batches of 20,000 92–97, of 50,000 71–83.
 * - process: 64 jobs at once and a local queue of 1,000 35–38 (taken); what its performance page shows, 24 and 500,
 *   25–33; 24 and 2,000 26–33; 10 and 500 29–35; two instances of 24 and 500 28–38.
 *   Without fresh statistics (PostgreSQL 15): 500 10–15, 2,000 14–30, 10,000 17–39.
 *   `refetchDelay` only spares an idle database and is left off.
 * - latency p99 (ms): no local queue and no batching 9.5–12.6 (taken), local queue and batching 13–16, a local queue
 *   of 5 10–24.
 */
const BEST: Record<Purpose, Record<string, number>> = {
  throughput: {
    enqueueBatchRows: 5000,
    enqueueConnections: 2,
    instances: 1,
    concurrentJobs: 64,
    localQueueSize: 1000,
    completeJobBatchDelayMs: 0,
  },
  latency: {
    enqueueBatchRows: 1,
    enqueueConnections: 8,
    instances: 1,
    concurrentJobs: 24,
    localQueueSize: -1,
    completeJobBatchDelayMs: -1,
  },
}

export const graphileWorker: Contender = {
  name: 'graphile-worker',
  async open(context, purpose) {
    const settings = { ...BEST[purpose], ...context.overrides } as Record<string, number>
    const { enqueueBatchRows = 1, enqueueConnections = 1, instances = 1 } = settings
    const { concurrentJobs = 1, localQueueSize = -1, completeJobBatchDelayMs = -1 } = settings
    const enqueuePool = new Pool({ connectionString: context.databaseUrl, max: enqueueConnections })
    enqueuePool.on('error', (error) => process.stderr.write(`graphile-worker: ${error.message}\n`))
    enqueuePool.on('connect', (client) => client.on('error', () => {}))
    const workerUtils = await makeWorkerUtils({ pgPool: enqueuePool, logger: silentLogger })
    await workerUtils.migrate()
    const runners: graphileWorkerModule.Runner[] = []
    return {
      settings,
      enqueueAll(payloads, options = {}) {
        return forEachConcurrently(
          inBatches(payloads, enqueueBatchRows),
          enqueueConnections,
          async (batch) => {
            const jobs = batch.map((payload) => jobSpec(payload, options))
            await enqueuePool.query(ADD_JOBS, [JSON.stringify(jobs)])
          },
        )
      },
      async enqueueOne(payload) {
        await workerUtils.addJob(TASK, payload)
      },
      async startWorkers(handle) {
        for (let instance = 0; instance < instances; instance++) {
          const runner = await run({
            preset: {
              worker: {
                connectionString: context.databaseUrl,
                concurrentJobs,
                maxPoolSize: concurrentJobs + 1,
                localQueue: { size: localQueueSize },
                completeJobBatchDelay: completeJobBatchDelayMs,
                failJobBatchDelay: completeJobBatchDelayMs,
              },
            },
            logger: silentLogger,
            noHandleSignals: true,
            taskList: { [TASK]: (payload) => handle(payload as Payload) },
          })
          runners.push(runner)
        }
      },
      async isDrained() {
        const result = await enqueuePool.query<{ drained: boolean }>(
          'select not exists (select from graphile_worker._private_jobs) as drained',
        )
        return result.rows[0]?.drained === true
      },
      async close() {
        await Promise.all(runners.map((runner) => runner.stop()))
        await workerUtils.release()
        await enqueuePool.end()
      },
    }
  },
}
