import { setTimeout as sleep } from 'node:timers/promises'
import { contenderNamed } from '../contenders/all.ts'
import type { Sample, SampleContext } from '../harness/row.ts'
import { percentile } from '../harness/statistics.ts'
import { makePayload } from './payload.ts'
import { switchOffAutovacuum } from './switch-off-autovacuum.ts'

const TICK_MS = 10
const WARM_UP_MS = 2000
const WATCHED_MS = 10_000
/** A contender further behind than this has a backlog, not a latency. */
const MAX_CATCH_UP_MS = 30_000
/** Above this rate the throughput settings are better for every contender. */
const MAX_SINGLE_PER_SECOND = 500

/**
 * Milliseconds from the call that publishes to the handler, at a steady rate: messages due within 10 ms are published together, without waiting for
 * earlier ones. The tables are never analysed.
 */
export async function measureLatencyAtRate(context: SampleContext, perSecond: number): Promise<Sample> {
  const purpose = perSecond <= MAX_SINGLE_PER_SECOND ? 'latency' : 'throughput'
  const session = await contenderNamed(context.arm).open(context, purpose)
  try {
    await switchOffAutovacuum(context.databaseUrl)
    const publishedMs: number[] = []
    const latenciesMs: number[] = []
    let arrived = 0
    const firstWatched = Math.floor((WARM_UP_MS / 1000) * perSecond)
    await session.startWorkers(({ sequence }) => {
      arrived += 1
      if (sequence >= firstWatched) latenciesMs.push(performance.now() - (publishedMs[sequence] ?? 0))
    })
    const startedMs = performance.now()
    const sends: Promise<void>[] = []
    const untilMs = startedMs + WARM_UP_MS + WATCHED_MS
    while (performance.now() < untilMs) {
      const due = Math.floor(((performance.now() - startedMs) / 1000) * perSecond)
      const batch = []
      while (publishedMs.length < due) {
        batch.push(makePayload(publishedMs.length))
        publishedMs.push(performance.now())
      }
      if (batch.length > 0) sends.push(session.enqueueAll(batch))
      await sleep(TICK_MS)
    }
    await Promise.all(sends)
    while (arrived < publishedMs.length) {
      if (performance.now() > untilMs + MAX_CATCH_UP_MS) {
        throw new Error(
          `${publishedMs.length - arrived} of ${publishedMs.length} messages had not arrived after 30 s`,
        )
      }
      await sleep(TICK_MS)
    }
    return {
      value: percentile(latenciesMs, 0.99),
      details: {
        perSecond,
        p50Ms: percentile(latenciesMs, 0.5),
        p99Ms: percentile(latenciesMs, 0.99),
        maxMs: latenciesMs.reduce((highest, each) => Math.max(highest, each), 0),
      },
      settings: session.settings,
    }
  } finally {
    await session.close()
  }
}
