import { setTimeout as sleep } from 'node:timers/promises'
import { contenderNamed } from '../contenders/all.ts'
import type { Sample, SampleContext } from '../harness/row.ts'
import { deferred } from './deferred.ts'
import { makePayloads } from './payload.ts'
import { switchOffAutovacuum } from './switch-off-autovacuum.ts'

const DRAIN_POLL_MS = 5
/** Long enough for every arm to publish all messages; a slower arm is measured from its last commit. */
const AHEAD_MS = 15_000

/** Messages a second from the time at which all of them are due to the last committed completion. The tables are never analysed. */
export async function measureEqualDueTimes(context: SampleContext): Promise<Sample> {
  const session = await contenderNamed(context.arm).open(context, 'throughput')
  const total = context.messages
  try {
    await switchOffAutovacuum(context.databaseUrl)
    let handled = 0
    let early = 0
    const done = deferred<void>()
    const deliverAt = new Date(Date.now() + AHEAD_MS)
    await session.startWorkers(() => {
      if (Date.now() < deliverAt.getTime() - 100) early += 1
      handled += 1
      if (handled === total) done.resolve()
    })
    await session.enqueueAll(makePayloads(total), { deliverAt })
    if (early > 0) throw new Error(`${early} messages came before their time`)
    await sleep(Math.max(0, deliverAt.getTime() - Date.now()))
    const startedMs = performance.now()
    await done.promise
    while (!(await session.isDrained())) await sleep(DRAIN_POLL_MS)
    const elapsedMs = performance.now() - startedMs
    return {
      value: (total / elapsedMs) * 1000,
      details: { messages: total, elapsedMs },
      settings: session.settings,
    }
  } finally {
    await session.close()
  }
}
