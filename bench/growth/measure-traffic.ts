import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { Measured, PointContext } from './curve.ts'
import { type GrowthNode, settledBy } from './growth-node.ts'
import { Meter } from './meter.ts'
import { Publisher, type Traffic } from './publisher.ts'

const POLL_MS = 25
const DELIVERY_DEADLINE_MS = 60_000

/**
 * Publishes as fast as the nodes deliver, and measures a window after the warm-up and before the last deliveries. In the end every event must be
 * delivered, and none pending.
 */
export async function measureTraffic(
  { databaseUrl, warmUpMs, windowMs }: PointContext,
  nodes: readonly GrowthNode[],
  traffic: Traffic,
): Promise<Measured> {
  const publisher = await Publisher.open(databaseUrl, traffic)
  const meter = new Meter(databaseUrl, nodes, publisher)
  try {
    await meter.open()
    const before = settledBy(nodes)
    const over = new AbortController()
    const publishing = publisher.publishUntil(over.signal, nodes)
    // A publisher that fails ends the measurement, not the process.
    const isPublishing = Promise.race([publishing, sleep(warmUpMs + windowMs)])
    await Promise.race([isPublishing, sleep(warmUpMs)])
    await meter.start()
    await isPublishing
    const measured = await meter.stop()
    over.abort()
    await publishing
    await untilSettled(nodes, before + publisher.published)
    return measured
  } finally {
    await meter.close()
    await publisher.close()
  }
}

export async function untilSettled(nodes: readonly GrowthNode[], count: number): Promise<void> {
  const deadlineMs = performance.now() + DELIVERY_DEADLINE_MS
  while (settledBy(nodes) < count) {
    if (performance.now() > deadlineMs)
      throw new Error(`${count - settledBy(nodes)} of ${count} were not delivered`)
    await sleep(POLL_MS)
  }
}

export async function countOwed(databaseUrl: string): Promise<number> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ owed: number }>(
    'select count(*)::float8 as owed from holdfast_internal.deliveries',
  )
  await client.end()
  return rows[0]?.owed ?? 0
}

/** Stops the nodes, and checks that exactly this many deliveries are pending. */
export async function stopAndCount(
  databaseUrl: string,
  nodes: readonly GrowthNode[],
  expected: number,
): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop()))
  const owed = await countOwed(databaseUrl)
  if (owed !== expected) throw new Error(`${owed} deliveries are owed instead of ${expected}`)
}
