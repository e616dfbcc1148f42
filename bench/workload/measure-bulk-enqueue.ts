import { contenderNamed } from '../contenders/all.ts'
import type { Sample, SampleContext } from '../harness/row.ts'
import { makePayloads } from './payload.ts'

/** Messages committed per second, enqueued in bulk by one process, from the first byte to the last commit. */
export async function measureBulkEnqueue(context: SampleContext): Promise<Sample> {
  const session = await contenderNamed(context.arm).open(context, 'throughput')
  try {
    const payloads = makePayloads(context.messages)
    // An untimed tenth first, so that connections are open, statements prepared and the code compiled.
    await session.enqueueAll(payloads.slice(0, context.messages / 10))
    const startedMs = performance.now()
    await session.enqueueAll(payloads)
    const elapsedMs = performance.now() - startedMs
    return {
      value: (payloads.length / elapsedMs) * 1000,
      details: { messages: payloads.length, elapsedMs },
      settings: session.settings,
    }
  } finally {
    await session.close()
  }
}
