import { afterEach, beforeEach, expect, test } from 'vitest'
import { defineJob, Holdfast } from '../../src/index.ts'
import { until } from '../support/engine/until.ts'
import { WorkerProcess } from '../support/processes/worker-process.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const work = defineJob({ name: 'work', queue: 'work' })
const limits = { heartbeatMs: 200, leaseMs: 1500, blockedLoopMs: 500, killGraceMs: 200, slowPollMs: 200 }

let database: TestDatabase
let holdfast: Holdfast

beforeEach(async () => {
  database = await createTestDatabase()
  holdfast = new Holdfast({ databaseUrl: database.url, maxConnections: 4 })
  await holdfast.jobs.declare(work)
})

afterEach(async () => {
  await holdfast.stop()
  await database.drop()
})

test.each([
  ['thread', 'block', 'timed_out'],
  ['thread', 'leak', 'out_of_memory'],
  ['thread', 'exit', 'handler_exited'],
  ['process', 'block', 'timed_out'],
  ['process', 'leak', 'out_of_memory'],
  ['process', 'exit', 'handler_exited'],
])(
  'in a %s, a handler that does "%s" ends its own run, and costs its worker and the other runs nothing',
  async (isolation, does, errorCode) => {
    await using worker = await WorkerProcess.start({
      databaseUrl: database.url,
      name: 'only',
      concurrency: 2,
      limits,
      endBlockedAfterMs: 1500,
    })
    const { id } = await holdfast.enqueue(`isolated-${isolation}`, { does })
    const others = Array.from({ length: 50 }, (_, n) => ({ input: { n, does: 'sleep', ms: 20 } }))
    await holdfast.enqueueBatch(work, others)
    const failed = await until(
      'it to fail',
      () => holdfast.runs.get(id),
      ({ deadLetterId }) => deadLetterId !== null,
      30_000,
    )
    expect(failed).toMatchObject({ errorCode, crashes: 0 })
    await until(
      'the others to end',
      async () => (await database.pool.query('select from holdfast_internal.owed_runs')).rowCount,
      (owed) => owed === 0,
      30_000,
    )
    expect(new Set(worker.ran).size).toBe(50)
    const { rows } = await database.pool.query(
      `select (select count(*)::int from holdfast_internal.attempts where outcome = 1) as done,
            (select count(*)::int from holdfast_internal.attempts where outcome = 6) as interrupted,
            (select array_agg(incarnation) from holdfast_internal.workers) as workers`,
    )
    expect(rows).toEqual([{ done: 50, interrupted: 0, workers: [worker.incarnation] }])
  },
)

test('a process of a handler that never yields ends with its worker', async () => {
  const worker = await WorkerProcess.start({ databaseUrl: database.url, name: 'killed', limits })
  const childrenOf = async (pid: number): Promise<number[]> => {
    const { readFile } = await import('node:fs/promises')
    const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    return text.split(' ').filter(Boolean).map(Number)
  }
  await holdfast.enqueue('isolated-process', { does: 'block-on' })
  const [child] = await until(
    'its process',
    () => childrenOf(worker.pid ?? 0),
    (pids) => pids.length > 0,
  )
  worker.kill()
  await worker.exited
  const isThere = () => {
    try {
      return process.kill(child!, 0)
    } catch {
      return false
    }
  }
  await until('it to end', () => !isThere(), Boolean, 20_000)
})
