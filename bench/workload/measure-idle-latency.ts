import { setTimeout as sleep } from 'node:timers/promises'
import { contenderNamed } from '../contenders/all.ts'
import type { Sample, SampleContext } from '../harness/row.ts'
import { percentile } from '../harness/statistics.ts'
import { deferred } from './deferred.ts'
import { makePayload } from './payload.ts'

const WARM_UP_PROBES = 20
const MIN_PAUSE_MS = 25
const MAX_PAUSE_MS = 60

/** Milliseconds from the call that publishes a single message to its handler, on an idle system. */
export async function measureIdleLatency(context: SampleContext): Promise<Sample> {
  const session = await contenderNamed(context.arm).open(context, 'latency')
  try {
    const probes = WARM_UP_PROBES + context.latencyProbes
    const publishedMs = new Float64Array(probes)
    const latenciesMs: number[] = []
    let arrived = 0
    const allArrived = deferred<void>()
    await session.startWorkers(({ sequence }) => {
      if (sequence >= WARM_UP_PROBES) latenciesMs.push(performance.now() - (publishedMs[sequence] ?? 0))
      if (++arrived === probes) allArrived.resolve()
    })
    // Publish on a schedule, not after the arrival of the previous message: a publisher that waits for a poller would synchronise with it and measure
    // its worst case only.
    for (let sequence = 0; sequence < probes; sequence++) {
      await sleep(pauseMs(sequence))
      publishedMs[sequence] = performance.now()
      await session.enqueueOne(makePayload(sequence))
    }
    await allArrived.promise
    return {
      value: percentile(latenciesMs, 0.99),
      details: {
        probes: latenciesMs.length,
        p50Ms: percentile(latenciesMs, 0.5),
        p95Ms: percentile(latenciesMs, 0.95),
        p99Ms: percentile(latenciesMs, 0.99),
        maxMs: Math.max(...latenciesMs),
      },
      settings: session.settings,
    }
  } finally {
    await session.close()
  }
}

/** Uneven, so that no timer synchronises with the probes; the same sequence for every arm. */
function pauseMs(sequence: number): number {
  const goldenRatio = 0.618_033_988_75
  return MIN_PAUSE_MS + ((sequence * goldenRatio) % 1) * (MAX_PAUSE_MS - MIN_PAUSE_MS)
}
