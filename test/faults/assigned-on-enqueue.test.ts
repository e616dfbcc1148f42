import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../support/engine/until.ts'
import { WorkerProcess } from '../support/processes/worker-process.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

/** Leases short enough for a test; nobody looks for work without being rung. */
const limits = { heartbeatMs: 200, leaseMs: 1500, slowPollMs: 600_000 }

let database: TestDatabase
let victim: WorkerProcess
let heir: WorkerProcess

beforeEach(async () => {
  database = await createTestDatabase()
  const start = (name: string) => WorkerProcess.start({ databaseUrl: database.url, name, limits })
  ;[victim, heir] = await Promise.all([start('victim'), start('heir')])
})

afterEach(async () => {
  await Promise.all([victim, heir].map((worker) => worker[Symbol.asyncDispose]()))
  await database.drop()
})

const rows = async (text: string) => (await database.pool.query(text)).rows as Record<string, unknown>[]

async function whenHeirHasRun(n: number): Promise<void> {
  await heir.saw('ran', (signal) => signal.n === n && signal.crashes === 1 && signal.attempt === 1)
  heir.finish(n)
  await until(
    'the run to end',
    () => rows('select from holdfast_internal.owed_runs'),
    (owed) => owed.length === 0,
    30_000,
  )
  // The one that the crash interrupted, if it had begun, stays beside it.
  expect(await rows('select outcome from holdfast_internal.attempts where outcome <> 6')).toEqual([
    { outcome: 1 },
  ])
}

test('a process killed when it has enqueued for its own worker loses nothing: another runs it, and the crash is counted', async () => {
  victim.enqueue({ n: 0 }, { thenDies: true })
  await victim.exited
  const [run] = await rows('select claim_id, crashes from holdfast_internal.owed_runs')
  expect(run, 'assigned on enqueue').toEqual({ claim_id: expect.any(Number) as number, crashes: 0 })
  expect(victim.ran).toEqual([])
  await whenHeirHasRun(0)
})

test('a process killed while it executes an assigned run loses nothing either', async () => {
  victim.enqueue({ n: 1, does: 'wait' })
  await victim.saw('ran')
  const [run] = await rows('select claim_id from holdfast_internal.owed_runs')
  expect(run, 'assigned on enqueue').toEqual({ claim_id: expect.any(Number) as number })
  victim.kill()
  await whenHeirHasRun(1)
})
