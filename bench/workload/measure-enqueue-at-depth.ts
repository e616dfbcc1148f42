import { setTimeout as sleep } from 'node:timers/promises'
import { Holdfast } from '../../dist/index.js'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { checkpoint } from './checkpoint.ts'
import { createEndpoints, HANDLER } from './endpoints.ts'
import { raiseGlobalBound } from './raise-global-bound.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { sendPayloads } from './send-payloads.ts'

const SHALLOW_MESSAGES = 1000
const POLL_MS = 50

/** Messages committed per second while many others wait: backpressure is on, and the owner has reported them. */
export async function measureEnqueueAtDepth(context: SampleContext): Promise<Sample> {
  const { databaseUrl, messages } = context
  const depth = context.arm === SUBJECT ? context.backlogMessages : SHALLOW_MESSAGES
  const holdfast = new Holdfast({ databaseUrl, handlers: { [HANDLER]: () => {} } })
  try {
    await holdfast.migrate()
    await raiseGlobalBound(databaseUrl, 2 * (context.backlogMessages + messages))
    await createEndpoints(holdfast, [HANDLER])
    await holdfast.endpoints.pause(HANDLER)
    await sendPayloads(holdfast, HANDLER, depth)
    await refreshStatistics(databaseUrl)
    await holdfast.start()
    while ((await holdfast.endpoints.health(HANDLER)).pending < depth) await sleep(POLL_MS)
    await sendPayloads(holdfast, HANDLER, messages / 10)
    await checkpoint(databaseUrl)
    const startedMs = performance.now()
    await sendPayloads(holdfast, HANDLER, messages)
    const elapsedMs = performance.now() - startedMs
    return {
      value: (messages / elapsedMs) * 1000,
      details: { messages, elapsedMs, waiting: depth },
      settings: {},
    }
  } finally {
    await holdfast.stop()
  }
}
