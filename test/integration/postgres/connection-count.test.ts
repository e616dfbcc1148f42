import { expect, test } from 'vitest'
import { defineJob, JobWorker } from '../../../src/index.ts'
import { Rig } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

/** The numbers of docs/deploy.md#connections. */
const upTo = { node: 18 + 2, worker: 6, publisher: 8 }

async function connections(rig: Rig): Promise<number> {
  return rig.value<number>(
    `select count(*)::int as value from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and application_name <> 'holdfast-test'`,
  )
}

/** The most that were open at one time while `load` ran. */
async function mostDuring(rig: Rig, load: () => Promise<unknown>): Promise<number> {
  let most = 0
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) most = Math.max(most, await connections(rig))
  })()
  await load()
  over.abort()
  await watching
  return Math.max(most, await connections(rig))
}

test('a publisher, a node and a worker under load open at most the connections that the documentation plans for', async () => {
  const rig = await Rig.create()
  try {
    const publisher = rig.client({ maxConnections: 8 })
    await publisher.endpoints.create({ name: 'hook', transport: 'function' })
    const sendMany = () => Promise.all(Array.from({ length: 60 }, (_, n) => publisher.send('hook', { n })))
    // Reached, not only kept: a pool that never fills would show nothing.
    expect(await mostDuring(rig, sendMany)).toBe(upTo.publisher)

    let seen = 0
    const node = await rig.start({ maxConnections: 8, handlers: { hook: () => void seen++ } })
    const withNode = await mostDuring(rig, async () => {
      await Promise.all(Array.from({ length: 60 }, (_, n) => node.holdfast.send('hook', { n })))
      await until('all of them to arrive', async () => seen === 120)
    })
    expect(withNode).toBeGreaterThan(upTo.publisher + 8)
    expect(withNode).toBeLessThanOrEqual(upTo.publisher + upTo.node)

    const job = defineJob({ name: 'count', run: async () => {} })
    const worker = new JobWorker({ databaseUrl: rig.database.url, jobs: [job], journalFolder: null })
    const before = await connections(rig)
    await worker.start()
    try {
      const withWorker = await mostDuring(rig, async () => {
        const runs = await Promise.all(Array.from({ length: 60 }, () => node.holdfast.enqueue(job, {})))
        await Promise.all(runs.map((run) => run.result({ timeoutMs: 20_000 })))
      })
      expect(withWorker).toBeGreaterThan(before)
      expect(withWorker).toBeLessThanOrEqual(upTo.publisher + upTo.node + upTo.worker)
    } finally {
      await worker.stop()
    }
  } finally {
    await rig.stop()
  }
})
