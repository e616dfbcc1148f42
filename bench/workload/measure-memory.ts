import { setTimeout as sleep } from 'node:timers/promises'
import { Holdfast } from '../../dist/index.js'
import type { Sample, SampleContext } from '../harness/row.ts'
import { HANDLER, MAX_PENDING } from './endpoints.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { sendPayloads } from './send-payloads.ts'
import { type BenchProcess, startNode } from './start-node.ts'

const MEBIBYTE = 2 ** 20
const POLL_MS = 50
const OPEN_CIRCUIT_MS = 5000
const COOLDOWN_MS = 3_600_000

/** Peak resident memory of a node with a backlog: first behind an open circuit, then while a third of it is drained. */
export async function measureMemory(context: SampleContext): Promise<Sample> {
  const { databaseUrl, backlogMessages } = context
  const holdfast = new Holdfast({ databaseUrl })
  let node: BenchProcess | undefined
  try {
    await holdfast.migrate()
    await holdfast.endpoints.create({
      name: HANDLER,
      transport: 'function',
      circuit: { cooldownMs: COOLDOWN_MS },
      limits: { maxPending: MAX_PENDING },
    })
    // Paused until its handler has been told to fail.
    await holdfast.endpoints.pause(HANDLER)
    await sendPayloads(holdfast, HANDLER, backlogMessages)
    await refreshStatistics(databaseUrl)
    node = await startNode(databaseUrl)
    const startedMiB = (await node.ask('fail')).memoryBytes / MEBIBYTE
    await holdfast.endpoints.resume(HANDLER)
    while ((await holdfast.endpoints.health(HANDLER)).circuit.state !== 'open') await sleep(POLL_MS)
    const openMiB = await peakMemoryMiB(node, OPEN_CIRCUIT_MS, () => false)
    await node.ask('succeed')
    await holdfast.endpoints.resetCircuit(HANDLER)
    const drainingMiB = await peakMemoryMiB(
      node,
      Number.POSITIVE_INFINITY,
      (handled) => handled >= backlogMessages / 3,
    )
    return {
      value: Math.max(openMiB, drainingMiB),
      details: { waiting: backlogMessages, startedMiB, openMiB, drainingMiB },
      settings: {},
    }
  } finally {
    await node?.kill()
    await holdfast.stop()
  }
}

async function peakMemoryMiB(
  node: BenchProcess,
  forMs: number,
  isDone: (handled: number) => boolean,
): Promise<number> {
  const endMs = performance.now() + forMs
  let peakBytes = 0
  for (;;) {
    const { handled, memoryBytes } = await node.ask()
    peakBytes = Math.max(peakBytes, memoryBytes)
    if (isDone(handled) || performance.now() >= endMs) return peakBytes / MEBIBYTE
    await sleep(POLL_MS)
  }
}
