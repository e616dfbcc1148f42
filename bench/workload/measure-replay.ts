import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { checkpoint } from './checkpoint.ts'
import { createEndpoints, HANDLER } from './endpoints.ts'
import { raiseGlobalBound } from './raise-global-bound.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { sendPayloads } from './send-payloads.ts'
import { watchSettling } from './watch-settling.ts'

const POLL_MS = 5
const HOUR_MS = 3_600_000

/**
 * Deliveries created per second for a paused endpoint, while a node runs: for the subject by replaying delivered messages (from the request to the
 * operation's end, including its count), for the other arm by sending as many new ones.
 */
export async function measureReplay(context: SampleContext): Promise<Sample> {
  const { databaseUrl, messages } = context
  const watch = watchSettling()
  const holdfast = new Holdfast({ databaseUrl, handlers: { [HANDLER]: () => {} }, observer: watch.observer })
  try {
    await holdfast.migrate()
    await raiseGlobalBound(databaseUrl, 10 * messages)
    await createEndpoints(holdfast, [HANDLER])
    await holdfast.start()
    await sendPayloads(holdfast, HANDLER, messages)
    await watch.whenSettled(messages)
    await holdfast.endpoints.pause(HANDLER)
    await refreshStatistics(databaseUrl)
    const before = await storedBodies(databaseUrl)
    await checkpoint(databaseUrl)
    const startedMs = performance.now()
    if (context.arm === SUBJECT) await replayAll(holdfast, messages)
    else await sendPayloads(holdfast, HANDLER, messages)
    const elapsedMs = performance.now() - startedMs
    return {
      value: (messages / elapsedMs) * 1000,
      details: { messages, elapsedMs, bodiesWritten: (await storedBodies(databaseUrl)) - before },
      settings: {},
    }
  } finally {
    await holdfast.stop()
  }
}

async function replayAll(holdfast: Holdfast, messages: number): Promise<void> {
  const now = Date.now()
  const { id } = await holdfast.replays.create({
    endpoint: HANDLER,
    state: 'succeeded',
    from: new Date(now - HOUR_MS),
    to: new Date(now + HOUR_MS),
  })
  for (;;) {
    const { state, done, error } = await holdfast.operations.get(id)
    if (state === 'succeeded' && done === messages) return
    if (state !== 'running') throw new Error(`the replay ended as ${state} after ${done}: ${error}`)
    await sleep(POLL_MS)
  }
}

async function storedBodies(databaseUrl: string): Promise<number> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ bodies: string }>(
    'select (select count(*) from holdfast_internal.messages) + (select count(*) from holdfast_internal.messages_kept) as bodies',
  )
  await client.end()
  return Number(rows[0]?.bodies)
}
