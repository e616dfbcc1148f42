import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineJob, Holdfast } from '../../src/index.ts'
import { until } from '../support/engine/until.ts'
import { DatabaseProcess } from '../support/processes/database-process.ts'
import { WorkerProcess } from '../support/processes/worker-process.ts'

const work = defineJob({ name: 'work', queue: 'work' })
const total = 12_000
const batch = 4000
/** Long enough for a server that recovers from its crash. */
const limits = { heartbeatMs: 200, leaseMs: 4000, slowPollMs: 200, stopTimeoutMs: 5000 }
const numbers = Array.from({ length: total }, (_, n) => n)

let database: DatabaseProcess
let holdfast: Holdfast
let folder: string
let fleet: WorkerProcess[]

/** Thousands of runs in a handful of rows, and three workers that have begun with them. */
beforeEach(async () => {
  database = await DatabaseProcess.start()
  folder = await mkdtemp(join(tmpdir(), 'holdfast-bundles-'))
  holdfast = new Holdfast({ databaseUrl: database.url, maxConnections: 2 })
  for (let from = 0; from < total; from += batch) {
    const inputs = numbers.slice(from, from + batch).map((n) => ({ input: { n, does: 'sleep', ms: 2 } }))
    await holdfast.enqueueBatch(work, inputs)
  }
  expect(await database.count('select from holdfast_internal.run_bundles')).toBeLessThan(10)
  fleet = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      WorkerProcess.start({
        databaseUrl: database.url,
        name,
        concurrency: 32,
        journalFolder: folder,
        limits,
      }),
    ),
  )
})

afterEach(async () => {
  await Promise.all(fleet.map((worker) => worker[Symbol.asyncDispose]()))
  await holdfast.stop()
  await database[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const ran = () => fleet.flatMap((worker) => worker.ran)
const whenBegun = (count: number) =>
  until(
    `${count} to begin`,
    () => ran().length,
    (n) => n >= count,
    60_000,
  )

async function whenDone(): Promise<void> {
  const owed = () => database.count('select from holdfast_internal.owed_runs')
  await until('all runs to end', owed, (count) => count === 0, 60_000)
  const succeeded = await database.rows<{ n: number; times: number }>(
    `select (message.body ->> 'n')::int as n, count(*)::int as times from holdfast_internal.attempts as tried
     join holdfast_internal.messages as message on message.id = tried.message_id where tried.outcome = 1 group by 1 order by 1`,
  )
  expect(succeeded).toEqual(numbers.map((n) => ({ n, times: 1 })))
  expect(await database.count('select from holdfast_internal.dead_letters')).toBe(0)
}

test('thousands of runs that share a row outlive crashes of PostgreSQL, and none runs twice', async () => {
  for (const begun of [1500, 5000]) {
    await whenBegun(begun)
    await database.crash()
    await database.restart()
  }
  await whenDone()
  await until(
    'all to be told',
    () => ran().length,
    (count) => count >= total,
  )
  expect(ran().toSorted((a, b) => a - b)).toEqual(numbers)
})

test('after a worker is killed, only the runs of a bundle that it had started may run twice', async () => {
  await whenBegun(2000)
  const victim = fleet[0]!
  victim.kill()
  await victim.exited
  await whenDone()
  const times = new Map<number, number>()
  for (const n of ran()) times.set(n, (times.get(n) ?? 0) + 1)
  const twice = [...times].filter(([, count]) => count > 1).map(([n]) => n)
  expect(twice.filter((n) => !victim.ran.includes(n))).toEqual([])
  expect(times.size).toBe(total)
})
