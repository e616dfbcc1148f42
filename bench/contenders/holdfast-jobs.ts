import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { defineJob, Holdfast, JobWorker } from '../../dist/index.js'
import { inBatches, type Payload } from '../workload/payload.ts'
import { raiseGlobalBound } from '../workload/raise-global-bound.ts'
import { type Contender, forEachConcurrently, type Handler, type Purpose } from './contender.ts'

/**
 * Tried on 2 cores, PostgreSQL 18, 100,000 runs, three passes each (k/s): enqueue over 2 connections 88–123, over 3 105–126, over 4 125–143 (taken),
 * over 6 125–139; over 2 in batches of 500 84–106, of 2,000 85–111, of 5,000 111–124.
 */
const BEST: Record<Purpose, Record<string, number>> = {
  throughput: { enqueueBatchRows: 1000, enqueueConnections: 4, concurrency: 64 },
  latency: { enqueueBatchRows: 1, enqueueConnections: 8, concurrency: 64 },
}

/** Holdfast's job runs in a queue, executed by a worker in this process, with its journal. */
export const holdfastJobs: Contender = {
  name: 'holdfast-jobs',
  async open(context, purpose) {
    const settings = { ...BEST[purpose], ...context.overrides } as Record<string, number>
    const { enqueueBatchRows = 1, enqueueConnections = 1, concurrency = 64 } = settings
    let handle: Handler = () => {}
    const job = defineJob({
      name: 'bench',
      ...(settings['hasOwnRows'] === 1 && { expiresAfterMs: 7 * 24 * 60 * 60 * 1000 }),
      run: (input) => handle(input as Payload),
    })
    const holdfast = new Holdfast({ databaseUrl: context.databaseUrl })
    await holdfast.migrate()
    await raiseGlobalBound(context.databaseUrl, 100_000_000)
    await holdfast.jobs.declare(job)
    // The same URL, spelt differently: a worker is assigned runs only by clients with exactly its URL.
    const publisher =
      settings['usesSecondClient'] === 1
        ? new Holdfast({ databaseUrl: namedUrl(context.databaseUrl) })
        : holdfast
    const client = new Client({ connectionString: context.databaseUrl })
    // An error of an idle connection shows at the next statement.
    client.on('error', () => {})
    await client.connect()
    await client.query('set enable_seqscan = off')
    const journalFolder = mkdtempSync(join(tmpdir(), 'holdfast-bench-journal-'))
    const worker = new JobWorker({
      databaseUrl: context.databaseUrl,
      jobs: [job],
      concurrency,
      journalFolder,
    })
    return {
      settings,
      enqueueAll(payloads, options = {}) {
        const { deliverAt, delayMs, orderingKey, concurrencyKey, priority, uniqueKey } = options
        return forEachConcurrently(
          inBatches(payloads, enqueueBatchRows),
          enqueueConnections,
          async (batch) => {
            await holdfast.enqueueBatch(
              job,
              batch.map((input) => ({
                input,
                ...(deliverAt !== undefined && { runAt: deliverAt }),
                ...(delayMs !== undefined && { delayMs }),
                ...(uniqueKey !== undefined && { uniqueKey: uniqueKey(input.sequence) }),
                ...(orderingKey !== undefined && { orderingKey: orderingKey(input.sequence) }),
                ...(concurrencyKey !== undefined && { concurrencyKey: concurrencyKey(input.sequence) }),
                ...(priority !== undefined && { priority: priority(input.sequence) }),
              })),
            )
          },
        )
      },
      async enqueueOne(payload) {
        await publisher.enqueue(job, payload)
      },
      async startWorkers(handler) {
        handle = handler
        await worker.start()
      },
      async isDrained() {
        const result = await client.query<{ drained: boolean }>(
          // Uses the indexes of claims: the check must not read a million runs that are scheduled for later.
          `select not exists (
             select from holdfast_internal.queues as queue cross join generate_series(0, 3) as level cross join lateral (
               select from holdfast_internal.runs
               where lane_id = queue.id and priority = level
                 and due_at is not null and target is null and crashes = 0 and due_at <= now()
               limit 1
             ) as due
           ) and not exists (select from holdfast_internal.runs where due_at is null)
             and not exists (select from holdfast_internal.runs where due_at is not null and crashes > 0)
             and not exists (select from holdfast_internal.run_bundles)
             and not exists (select from holdfast_internal.run_claims where bundled <> '{}') as drained`,
        )
        return result.rows[0]?.drained === true
      },
      async close() {
        await worker.stop()
        await holdfast.stop()
        if (publisher !== holdfast) await publisher.stop()
        await client.end()
        rmSync(journalFolder, { recursive: true, force: true })
      },
    }
  },
}

function namedUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', 'bench')
  return url.href
}
