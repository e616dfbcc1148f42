import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineJob, Holdfast } from '../../dist/index.js'
import type { Sample, SampleContext } from '../harness/row.ts'
import { makePayload } from './payload.ts'
import { raiseGlobalBound } from './raise-global-bound.ts'
import { type BenchProcess, startNode, startWorker } from './start-node.ts'

const MEBIBYTE = 2 ** 20
const POLL_MS = 50
const BATCH_RUNS = 1000
const LARGE_BATCH_RUNS = 8

/**
 * Peak resident memory of a worker that executes many tiny runs and then large ones: the tiny ones make its claims long, so that only the byte limit
 * bounds a claim of large ones. A node runs at the same time.
 */
export async function measureJobBytes(context: SampleContext): Promise<Sample> {
  const { databaseUrl } = context
  const tiny = Math.round(context.messages * 0.4)
  const large = Math.round(context.messages * 0.012)
  const job = defineJob({ name: 'bench' })
  const holdfast = new Holdfast({ databaseUrl })
  const journalFolder = mkdtempSync(join(tmpdir(), 'holdfast-bench-journal-'))
  const started: BenchProcess[] = []
  try {
    await holdfast.migrate()
    await raiseGlobalBound(databaseUrl, 100_000_000)
    for (let first = 0; first < tiny; first += BATCH_RUNS) {
      const inputs = Array.from({ length: BATCH_RUNS }, (_, index) => ({ input: makePayload(first + index) }))
      await holdfast.enqueueBatch(job, inputs)
    }
    const text = 'x'.repeat(MEBIBYTE - 100)
    for (let first = 0; first < large; first += LARGE_BATCH_RUNS) {
      await holdfast.enqueueBatch(
        job,
        Array.from({ length: Math.min(LARGE_BATCH_RUNS, large - first) }, () => ({ input: { text } })),
      )
    }
    const node = await startNode(databaseUrl)
    started.push(node)
    const startedMs = performance.now()
    const worker = await startWorker(databaseUrl, journalFolder)
    started.push(worker)
    let nodeBytes = 0
    let report = await worker.ask()
    while (report.handled < tiny + large) {
      await sleep(POLL_MS)
      report = await worker.ask()
      nodeBytes = Math.max(nodeBytes, (await node.ask()).memoryBytes)
    }
    const elapsedMs = performance.now() - startedMs
    return {
      value: report.memoryBytes / MEBIBYTE,
      details: { tiny, large, elapsedMs, nodeMiB: nodeBytes / MEBIBYTE },
      settings: {},
    }
  } finally {
    await Promise.all(started.map((each) => each.kill()))
    await holdfast.stop()
    rmSync(journalFolder, { recursive: true, force: true })
  }
}
