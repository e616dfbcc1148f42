import { execFileSync } from 'node:child_process'
import { appendFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineJob, Holdfast } from '../../src/index.ts'
import { until } from '../support/engine/until.ts'
import { CuttingProxy } from '../support/processes/cutting-proxy.ts'
import { WorkerProcess } from '../support/processes/worker-process.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const work = defineJob({ name: 'work', queue: 'work' })
const limits = { heartbeatMs: 200, leaseMs: 1500, slowPollMs: 200 }

let database: TestDatabase
let holdfast: Holdfast
let folder: string
const workers: WorkerProcess[] = []

beforeEach(async () => {
  database = await createTestDatabase()
  holdfast = new Holdfast({ databaseUrl: database.url, maxConnections: 4 })
  await holdfast.jobs.declare(work)
  folder = await mkdtemp(join(tmpdir(), 'holdfast-journal-'))
})

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker[Symbol.asyncDispose]()))
  await holdfast.stop()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

async function start(databaseUrl = database.url): Promise<WorkerProcess> {
  const worker = await WorkerProcess.start({
    databaseUrl,
    name: 'journaled',
    concurrency: 2,
    journalFolder: folder,
    limits,
  })
  workers.push(worker)
  return worker
}

const enqueue = (...inputs: readonly object[]) =>
  holdfast.enqueueBatch(
    work,
    inputs.map((input) => ({ input })),
  )

const successes = async () =>
  (
    await database.pool.query<{ n: number }>(
      `select (message.body ->> 'n')::int as n from holdfast_internal.attempts as tried
       join holdfast_internal.messages as message on message.id = tried.message_id where tried.outcome = 1 order by 1`,
    )
  ).rows.map(({ n }) => n)

const whenSucceeded = (...numbers: readonly number[]) =>
  until(
    `the successes of ${numbers.join()}`,
    successes,
    (seen) => JSON.stringify(seen) === JSON.stringify(numbers),
    20_000,
  )

async function journalFile(): Promise<string> {
  const files = (await readdir(join(folder, '1'))).filter((name) => name.endsWith('.journal')).sort()
  return join(folder, '1', files.at(-1)!)
}

const inJournal = (n: number) =>
  until(`${n} to be in the journal`, async () =>
    (await readFile(await journalFile(), 'utf8')).includes(`"n":${n}`),
  )

test('a record that was being written when the worker was killed hides none of those before and after it', async () => {
  await using proxy = await CuttingProxy.start(database.url)
  const first = await start(proxy.url)
  await enqueue({ n: 0, does: 'wait' }, { n: 1, does: 'wait' })
  await first.saw('ran', ({ n }) => n === 1)
  proxy.swallow()
  first.finish(0)
  first.finish(1)
  await inJournal(0)
  await inJournal(1)
  first.kill()
  await first.exited
  // The header of a frame of 200 bytes, and a tenth of it.
  await appendFile(
    await journalFile(),
    Buffer.concat([Buffer.from([200, 0, 0, 0, 1, 2, 3, 4]), Buffer.alloc(20, '{')]),
  )

  const second = await start()
  await whenSucceeded(0, 1)
  expect(second.ran).toEqual([])
  second.kill()
  await second.exited

  proxy.carry()
  const third = await start(proxy.url)
  await enqueue({ n: 2, does: 'wait' })
  await third.saw('ran', ({ n }) => n === 2)
  proxy.swallow()
  third.finish(2)
  await inJournal(2)
  third.kill()
  await third.exited
  const fourth = await start()
  await whenSucceeded(0, 1, 2)
  expect(fourth.ran).toEqual([])
})

// The limit on the size of files is how a process of ours gets a full disk without one.
test.skipIf(process.platform !== 'linux')(
  'a worker whose journal can not be written hands in what it has, claims nothing, and goes on when there is room',
  async () => {
    const worker = await start()
    await enqueue({ n: 0, does: 'wait' })
    await worker.saw('ran')
    const { size } = await stat(await journalFile())
    const limitFiles = (bytes: number | 'unlimited') =>
      execFileSync('prlimit', ['--pid', String(worker.pid), `--fsize=${bytes}:`])
    limitFiles(size + 10)
    worker.finish(0)
    await worker.saw('log', ({ message }) => message === 'The journal could not be written')
    await whenSucceeded(0)
    await enqueue({ n: 1 })
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(worker.ran, 'nothing is claimed').toEqual([0])
    limitFiles('unlimited')
    await whenSucceeded(0, 1)
  },
)
