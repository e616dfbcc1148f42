import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import { type Sample, type SampleContext, Unavailable } from '../harness/row.ts'
import { createEndpoints, endpointNames } from './endpoints.ts'
import { processorTimes } from './processor-time.ts'
import { refreshStatistics } from './refresh-statistics.ts'
import { startNode } from './start-node.ts'

/** V8 collects the garbage of the start half a minute later, once. */
const SETTLE_MS = 40_000

/** Percent of one core that a node and the whole database server use while many endpoints are idle. */
export async function measureIdleCpu(context: SampleContext): Promise<Sample> {
  const { databaseUrl, endpointCount, idleMs } = context
  const holdfast = new Holdfast({ databaseUrl })
  try {
    await holdfast.migrate()
    await createEndpoints(holdfast, endpointNames(endpointCount))
  } finally {
    await holdfast.stop()
  }
  await refreshStatistics(databaseUrl)
  const node = await startNode(databaseUrl)
  try {
    await sleep(SETTLE_MS)
    const servers = await serverProcesses(databaseUrl)
    const nodeBefore = processorTimes([node.processId])
    const serverBefore = processorTimes(servers)
    const startedMs = performance.now()
    await sleep(idleMs)
    const elapsedMs = performance.now() - startedMs
    const nodePercent = percentUsed(nodeBefore, processorTimes([node.processId]), elapsedMs)
    const databasePercent = percentUsed(serverBefore, processorTimes(servers), elapsedMs)
    return {
      value: nodePercent + databasePercent,
      details: { endpoints: endpointCount, elapsedMs, nodePercent, databasePercent },
      settings: {},
    }
  } finally {
    await node.kill()
  }
}

/** Our backends and the server's background processes, without the session that runs the query. */
async function serverProcesses(databaseUrl: string): Promise<number[]> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const result = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where pid <> pg_backend_pid() and (datname = current_database() or datname is null)`,
  )
  await client.end()
  const processIds = result.rows.map(({ pid }) => pid)
  if (!processIds.some((processId) => existsSync(`/proc/${processId}/stat`))) {
    throw new Unavailable("the database server's processes can't be seen from here")
  }
  return processIds
}

function percentUsed(before: Map<number, number>, after: Map<number, number>, elapsedMs: number): number {
  let usedMs = 0
  for (const [processId, time] of after) usedMs += time - (before.get(processId) ?? time)
  return (usedMs / elapsedMs) * 100
}
