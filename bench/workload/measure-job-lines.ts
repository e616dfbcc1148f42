import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, Holdfast, JobWorker } from '../../dist/index.js'
import type { Sample, SampleContext } from '../harness/row.ts'
import { deferred } from './deferred.ts'
import { raiseGlobalBound } from './raise-global-bound.ts'
import { switchOffAutovacuum } from './switch-off-autovacuum.ts'

const BATCH_RUNS = 1000
/** Runs of the flood before the timed run is enqueued: the worker has reached its rate by then. */
const WARM_UP_RUNS = 5000
const CONCURRENCY = 64

interface Flood {
  /** Share of the messages of `--rows`. */
  readonly share: number
  readonly key: (name: string) => { readonly concurrencyKey: string } | { readonly fairKey: string }
  /** True: the first run of the flood holds its key until the timed run has started. False: the worker executes the flood meanwhile. */
  readonly isHeld: boolean
}

/** How long a single run of another key waits behind a flood of one key, in milliseconds from enqueuing to start. The tables are never analysed. */
export async function measureBehindFlood(context: SampleContext, flood: Flood): Promise<Sample> {
  const { databaseUrl } = context
  const holdfast = new Holdfast({ databaseUrl })
  const journalFolder = mkdtempSync(join(tmpdir(), 'holdfast-bench-journal-'))
  const total = Math.round(context.messages * flood.share)
  const release = deferred<void>()
  const warm = deferred<void>()
  const other = deferred<number>()
  let floodStarted = 0
  const job = defineJob({
    name: 'bench',
    run: async (input) => {
      if (input === 'other') return other.resolve(performance.now())
      floodStarted += 1
      if (floodStarted === WARM_UP_RUNS) warm.resolve()
      if (flood.isHeld && floodStarted === 1) await release.promise
    },
  })
  const worker = new JobWorker({ databaseUrl, jobs: [job], concurrency: CONCURRENCY, journalFolder })
  try {
    await holdfast.migrate()
    await raiseGlobalBound(databaseUrl, 100_000_000)
    await switchOffAutovacuum(databaseUrl)
    const enqueueFlood = async () => {
      for (let first = 0; first < total; first += BATCH_RUNS) {
        await holdfast.enqueueBatch(
          job,
          Array.from({ length: BATCH_RUNS }, () => ({ input: 'flood', ...flood.key('a') })),
        )
      }
    }
    await enqueueFlood()
    if (!flood.isHeld) {
      await worker.start()
      await warm.promise
    }
    await holdfast.enqueue(job, 'other', flood.key('b'))
    const enqueuedMs = performance.now()
    const startedBefore = floodStarted
    if (flood.isHeld) await worker.start()
    const delayMs = (await other.promise) - enqueuedMs
    return {
      value: delayMs,
      details: { waiting: total, startedMeanwhile: floodStarted - startedBefore },
      settings: { concurrency: CONCURRENCY },
    }
  } finally {
    release.resolve()
    await worker.stop()
    await holdfast.stop()
    rmSync(journalFolder, { recursive: true, force: true })
  }
}
