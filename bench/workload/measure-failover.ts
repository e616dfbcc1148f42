import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import type { Sample, SampleContext } from '../harness/row.ts'
import { createEndpoints, endpointNames } from './endpoints.ts'
import { makePayload } from './payload.ts'
import { type BenchProcess, startNode } from './start-node.ts'

const ENDPOINTS = 64
const POLL_MS = 10

/** Seconds from killing one of two nodes until the other has handled everything sent since. */
export async function measureFailover(context: SampleContext): Promise<Sample> {
  const { databaseUrl } = context
  const holdfast = new Holdfast({ databaseUrl })
  const client = new Client({ connectionString: databaseUrl })
  const nodes: BenchProcess[] = []
  try {
    await client.connect()
    await holdfast.migrate()
    const names = endpointNames(ENDPOINTS)
    await createEndpoints(holdfast, names)
    for (let count = 0; count < 2; count++) nodes.push(await startNode(databaseUrl))
    const [victim, survivor] = nodes as [BenchProcess, BenchProcess]
    await untilShared(client)
    // Both nodes have delivered before, so that the takeover is measured and not a first call.
    for (const name of names) await holdfast.send(name, makePayload(0))
    while ((await victim.ask()).handled + (await survivor.ask()).handled < ENDPOINTS) await sleep(POLL_MS)
    const { handled } = await survivor.ask()
    const killedMs = performance.now()
    await victim.kill()
    await Promise.all(names.map((name) => holdfast.send(name, makePayload(1))))
    while ((await survivor.ask()).handled < handled + ENDPOINTS) await sleep(POLL_MS)
    return {
      value: (performance.now() - killedMs) / 1000,
      details: { endpoints: ENDPOINTS, ofTheVictim: ENDPOINTS - handled },
      settings: {},
    }
  } finally {
    for (const node of nodes) await node.kill()
    await holdfast.stop()
    await client.end()
  }
}

/** Waits until both nodes own about half of the shards. */
async function untilShared(client: Client): Promise<void> {
  for (;;) {
    const result = await client.query<{ shards: number }>(
      'select count(*)::int as shards from holdfast_internal.shard_leases where incarnation is not null group by incarnation',
    )
    const [first, second] = result.rows
    if (first !== undefined && second !== undefined && first.shards + second.shards === 256) return
    await sleep(POLL_MS)
  }
}
