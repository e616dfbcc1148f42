import { setTimeout as sleep } from 'node:timers/promises'
import { contenderNamed } from '../contenders/all.ts'
import type { Sample, SampleContext } from '../harness/row.ts'
import { deferred } from './deferred.ts'
import { makePayloads } from './payload.ts'
import { refreshStatistics } from './refresh-statistics.ts'

const DRAIN_POLL_MS = 5

export interface ProcessingSteps {
  /** Runs when the contender is ready, before anything is enqueued. */
  prepare?: () => Promise<void>
  /** Runs when the queue is full. */
  beforeStart?: () => Promise<void>
}

/**
 * Messages per second that a no-op handler in this process handles and completes, from a full queue. The clock starts when a tenth is handled, so
 * that start-up and compilation don't count, and stops when every completion is committed.
 */
export async function measureProcessing(
  context: SampleContext,
  { prepare, beforeStart }: ProcessingSteps = {},
): Promise<Sample> {
  const session = await contenderNamed(context.arm).open(context, 'throughput')
  try {
    await prepare?.()
    await session.enqueueAll(makePayloads(context.messages))
    await refreshStatistics(context.databaseUrl)
    await beforeStart?.()
    const warmUp = context.messages / 10
    const seen = new Uint8Array(context.messages)
    let handled = 0
    let duplicates = 0
    let startedMs = 0
    const allHandled = deferred<void>()
    await session.startWorkers((payload) => {
      if (seen[payload.sequence] === 1) {
        duplicates++
        return
      }
      seen[payload.sequence] = 1
      handled++
      if (handled === warmUp) startedMs = performance.now()
      if (handled === context.messages) allHandled.resolve()
    })
    await allHandled.promise
    while (!(await session.isDrained())) await sleep(DRAIN_POLL_MS)
    const elapsedMs = performance.now() - startedMs
    return {
      value: ((context.messages - warmUp) / elapsedMs) * 1000,
      details: { messages: context.messages, elapsedMs, duplicates },
      settings: session.settings,
    }
  } finally {
    await session.close()
  }
}
