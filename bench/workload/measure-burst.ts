import { setTimeout as sleep } from 'node:timers/promises'
import { contenderNamed } from '../contenders/all.ts'
import type { EnqueueOptions } from '../contenders/contender.ts'
import type { Sample, SampleContext } from '../harness/row.ts'
import { deferred } from './deferred.ts'
import { makePayloads } from './payload.ts'
import { switchOffAutovacuum, vacuumAll } from './switch-off-autovacuum.ts'

const DRAIN_POLL_MS = 5
const WINDOW_MS = 500
/** Enough for prepared statements to be planned, on tables that are emptied afterwards. */
const WARM_UP_MESSAGES = 2000

export interface BurstOptions {
  /** `fresh`: nothing was ever stored. `idle`: some messages were processed, and vacuum has emptied the tables since. */
  readonly after: 'fresh' | 'idle'
  /** Share of twice the messages of `--rows`; 1 by default. */
  readonly share?: number
  /** Multiplies `share`, by arm, for contenders that would take minutes. Fewer messages are in their favour. */
  readonly shareOfArms?: Readonly<Record<string, number>>
  readonly enqueue?: EnqueueOptions
}

/**
 * Messages a second from the first enqueue to the last committed completion, while the workers run, on tables that were never analysed. No arm
 * refreshes statistics. `worstHalfSecond` is the slowest window as a share of the median one.
 */
export async function measureBurst(
  context: SampleContext,
  { after, share = 1, shareOfArms = {}, enqueue = {} }: BurstOptions,
): Promise<Sample> {
  const session = await contenderNamed(context.arm).open(context, 'throughput')
  const total = Math.round(context.messages * 2 * share * (shareOfArms[context.arm] ?? 1))
  try {
    await switchOffAutovacuum(context.databaseUrl)
    let handled = 0
    let awaited = after === 'idle' ? WARM_UP_MESSAGES : total
    let done = deferred<void>()
    let startedMs = performance.now()
    let windows: number[] = []
    await session.startWorkers(() => {
      handled++
      const window = Math.floor((performance.now() - startedMs) / WINDOW_MS)
      windows[window] = (windows[window] ?? 0) + 1
      if (handled === awaited) done.resolve()
    }, enqueue)
    const drain = async () => {
      await done.promise
      while (!(await session.isDrained())) await sleep(DRAIN_POLL_MS)
    }
    if (after === 'idle') {
      await session.enqueueAll(makePayloads(WARM_UP_MESSAGES))
      await drain()
      await vacuumAll(context.databaseUrl)
      handled = 0
      awaited = total
      done = deferred<void>()
    }
    windows = []
    startedMs = performance.now()
    await session.enqueueAll(makePayloads(total), enqueue)
    await drain()
    const elapsedMs = performance.now() - startedMs
    return {
      value: (total / elapsedMs) * 1000,
      details: { messages: total, elapsedMs, worstHalfSecond: worstShare(windows) },
      settings: session.settings,
    }
  } finally {
    await session.close()
  }
}

/** The slowest window as a share of the median. Leaves out the first window with handled messages, which contains the start, and the last one. */
function worstShare(windows: readonly (number | undefined)[]): number {
  const handled = Array.from(windows, (count) => count ?? 0)
  const whole = handled.slice(handled.findIndex((count) => count > 0) + 1, -1)
  const sorted = whole.toSorted((first, second) => first - second)
  const median = sorted[sorted.length >> 1] ?? 0
  return median === 0 ? 1 : (sorted[0] ?? 0) / median
}
