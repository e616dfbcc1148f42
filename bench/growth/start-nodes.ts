import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { GrowthNode, type GrowthNodeOptions } from './growth-node.ts'

const POLL_MS = 100
const SHARDS = 256
const BALANCE_DEADLINE_MS = 30_000

/** Starts nodes, and waits until they have divided the shards among themselves. */
export async function startNodes(count: number, options: GrowthNodeOptions): Promise<GrowthNode[]> {
  const nodes = await Promise.all(Array.from({ length: count }, () => GrowthNode.start(options)))
  await untilBalanced(options.databaseUrl, count)
  return nodes
}

async function untilBalanced(databaseUrl: string, nodes: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const deadlineMs = performance.now() + BALANCE_DEADLINE_MS
    for (;;) {
      const { rows } = await client.query<{ owned: number }>(
        `select count(*)::int as owned from holdfast_internal.shard_leases
         where incarnation is not null group by incarnation order by 1`,
      )
      const owned = rows.reduce((sum, row) => sum + row.owned, 0)
      // Rendezvous hashing gives each node about its share; half of it is the lowest that was observed.
      if (owned === SHARDS && rows.length === nodes && (rows[0]?.owned ?? 0) >= SHARDS / nodes / 2) return
      if (performance.now() > deadlineMs) {
        throw new Error(`the shards are divided ${rows.map((row) => row.owned).join(', ')} after 30 s`)
      }
      await sleep(POLL_MS)
    }
  } finally {
    await client.end()
  }
}
