import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/job.ts'
import type { JobWorker } from '../../src/jobs/worker.ts'
import { createWorker } from '../../src/sdk/create-worker.ts'
import { Holdfast } from '../../src/sdk/holdfast.ts'
import { until } from '../support/engine/until.ts'
import { DatabaseProcess } from '../support/processes/database-process.ts'

/** Two-phase commit: an application, or its transaction manager, prepares what it stored and commits it later, perhaps after a crash. */
describe('a transaction that is prepared', () => {
  let database: DatabaseProcess
  let holdfast: Holdfast
  let worker: JobWorker
  const handled: string[] = []
  const job = defineJob({ name: 'count', run: (input) => void handled.push(`run ${String(input)}`) })

  beforeAll(async () => {
    database = await DatabaseProcess.start()
    await database.rows('alter system set max_prepared_transactions = 10')
    await database.stop()
    await database.restart()
    holdfast = new Holdfast({ databaseUrl: database.url })
    await holdfast.start()
    holdfast.handle('hook', ({ payload }) => void handled.push(`hook ${String(payload)}`))
    await holdfast.endpoints.create({ name: 'hook', transport: 'function', eventTypes: ['order.*'] })
    worker = await createWorker({ databaseUrl: database.url, jobs: [job], journalFolder: null })
  })
  afterAll(async () => {
    await worker.stop()
    await holdfast.stop()
    await database[Symbol.asyncDispose]()
  })

  async function inSession(...statements: string[]): Promise<void> {
    const client = new Client({ connectionString: database.url })
    await client.connect()
    try {
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
  }

  const areAsleep = () =>
    until('the node and the worker to sleep', async () => {
      const [row] = await database.rows<{ asleep: boolean }>(
        `select (select bool_and(is_asleep) from holdfast_internal.nodes) and (select bool_and(is_asleep) from holdfast_internal.workers) as asleep`,
      )
      return row?.asleep === true
    })
  const arrives = (what: string) => until(what, () => handled.includes(what), undefined, 5_000)

  test.each([
    ['send', `select holdfast.send('hook', '"sent"')`, 'hook sent'],
    [
      'send_batch',
      `select holdfast.send_batch('hook', array['"batch"']::jsonb[], '{"priority": 1}')`,
      'hook batch',
    ],
    ['publish', `select holdfast.publish('order.created', '"published"')`, 'hook published'],
    ['enqueue', `select holdfast.enqueue('count', '"one"')`, 'run one'],
    [
      'enqueue_batch',
      `select holdfast.enqueue_batch('count', array['"two"', '"three"']::jsonb[])`,
      'run three',
    ],
  ])('may contain %s, while those who wait for it sleep', async (name, statement, expected) => {
    await areAsleep()
    await inSession('begin', statement, `prepare transaction '${name}'`)
    expect(handled).not.toContain(expected)
    await inSession(`commit prepared '${name}'`)
    await arrives(expected)
  })

  test('may create and change an endpoint, which the node applies after the commit', async () => {
    holdfast.handle('second', ({ payload }) => void handled.push(`second ${String(payload)}`))
    await inSession(
      'begin',
      `select holdfast.create_endpoint('new', '{"handler": "hook"}', '{"transport": "function"}')`,
      `prepare transaction 'create'`,
    )
    await inSession(`commit prepared 'create'`, `select holdfast.send('new', '"to a new one"')`)
    await arrives('hook to a new one')
    await inSession(
      'begin',
      `select holdfast.update_endpoint('new', '{"config": {"handler": "second"}}')`,
      `prepare transaction 'update'`,
    )
    await inSession(`commit prepared 'update'`)
    await until('the node to know', async () => {
      await inSession(`select holdfast.send('new', '"changed"')`)
      return handled.includes('second changed')
    })
  })

  test('may change an endpoint', async () => {
    await inSession(
      'begin',
      `select holdfast.set_endpoint_state('hook', 'paused')`,
      `prepare transaction 'pause'`,
    )
    await inSession(`commit prepared 'pause'`)
    await inSession(`select holdfast.set_endpoint_state('hook', 'active')`)
  })

  test('outlives a crash, and what it stored is delivered when it commits below everything that came since', async () => {
    await inSession(
      'begin',
      `select holdfast.send('hook', '"prepared before the crash"')`,
      `prepare transaction 'late'`,
    )
    await database.crash()
    await database.restart()
    await until('a publisher to get through', async () =>
      holdfast.send('hook', 'after').then(
        () => true,
        () => false,
      ),
    )
    await until('the later one', () => handled.includes('hook after'), undefined, 20_000)
    await inSession(`commit prepared 'late'`)
    await until(
      'the one that was prepared',
      () => handled.includes('hook prepared before the crash'),
      undefined,
      20_000,
    )
  }, 60_000)

  test('leaves nothing behind when it is rolled back', async () => {
    await inSession(
      'begin',
      `select holdfast.send('hook', '"never"')`,
      `prepare transaction 'gone'`,
      `rollback prepared 'gone'`,
    )
    await holdfast.send('hook', 'last')
    await arrives('hook last')
    expect(handled).not.toContain('hook never')
  })
})
