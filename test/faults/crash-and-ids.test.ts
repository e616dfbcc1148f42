import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/job.ts'
import { createWorker } from '../../src/sdk/create-worker.ts'
import { Holdfast } from '../../src/sdk/holdfast.ts'
import { until } from '../support/engine/until.ts'
import { DatabaseProcess } from '../support/processes/database-process.ts'
import { Gate } from '../support/receivers/gate.ts'

/**
 * What a crash of PostgreSQL forgets: numbers that only transactions had drawn whose commit never reached the disk. The writer that flushes in the
 * background is slowed down, so that nothing gets there unless somebody waits for it.
 */
let database: DatabaseProcess
let holdfast: Holdfast
const clients: Client[] = []

beforeEach(async () => {
  database = await DatabaseProcess.start()
  await database.rows(`alter system set wal_writer_delay = '10s'`)
  await database.rows(`alter system set wal_writer_flush_after = '1GB'`)
  await database.rows('alter system set autovacuum = off')
  await database.rows('select pg_reload_conf()')
  holdfast = new Holdfast({ databaseUrl: database.url })
})
afterEach(async () => {
  await holdfast.stop()
  for (const client of clients.splice(0)) await client.end().catch(() => {})
  await database[Symbol.asyncDispose]()
})

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: database.url })
  client.on('error', () => {})
  await client.connect()
  clients.push(client)
  return client
}

/** One killed backend is enough: the postmaster ends all others and recovers. */
async function backend(): Promise<number> {
  const { rows } = await (await connect()).query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid ?? 0
}

async function kill(pid: number): Promise<void> {
  // Until the postmaster has noticed, the server still answers: it has noticed when it ends another connection.
  const witness = await connect()
  const noticed = new Promise((resolve) => witness.once('end', resolve))
  process.kill(pid, 'SIGKILL')
  await noticed
  await until('the server to recover', async () => {
    const client = new Client({ connectionString: database.url })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows: up } = await client.query('select not pg_is_in_recovery() as up')
      return up[0].up as boolean
    } catch {
      return false
    } finally {
      await client.end().catch(() => {})
    }
  })
}

/** Stops the writer and the node's own connections while they do nothing: one that was stopped at work could hold a lock that everybody needs. */
async function stopAtRest(client: Client): Promise<number[]> {
  const look = async () => {
    const { rows } = await client.query<{ pid: number; isAtRest: boolean }>(
      `select pid, coalesce(wait_event in ('ClientRead', 'WalWriterMain'), false) as "isAtRest" from pg_stat_activity
       where backend_type = 'walwriter' or application_name in
         ('holdfast-control', 'holdfast-maintenance', 'holdfast-beat', 'holdfast-operations')`,
    )
    return rows
  }
  return until(
    'them to rest',
    async () => {
      const before = await look()
      if (!before.every(({ isAtRest }) => isAtRest)) return []
      for (const { pid } of before) process.kill(pid, 'SIGSTOP')
      const after = await look()
      if (after.length === before.length && after.every(({ isAtRest }) => isAtRest))
        return after.map(({ pid }) => pid)
      for (const { pid } of before) process.kill(pid, 'SIGCONT')
      return []
    },
    (pids) => pids.length > 0,
  )
}

/** A message and its delivery as an asynchronous transaction stores them that asks nobody for durability. */
const storeUnflushed = `
  with drawn as (select nextval('holdfast_internal.ids') as id from generate_series(1, 40)),
  stored as (insert into holdfast_internal.messages (id, size, body) select id, 1, '"lost"' from drawn)
  insert into holdfast_internal.deliveries (id, message_id, lane_id, size)
  select drawn.id, drawn.id, endpoint.id, 1 from drawn cross join holdfast_internal.endpoints as endpoint where endpoint.name = 'first'
  returning holdfast_internal.ring(array[lane_id])`

describe('after a crash that forgets drawn ids', () => {
  test('late results of forgotten deliveries settle nothing of another endpoint, and no id comes twice', async () => {
    const gate = new Gate()
    const arrived: string[] = []
    const sentIds: string[] = []
    await holdfast.start()
    holdfast.handle('first', async (message) => {
      sentIds.push(message.id)
      if (message.payload === 'lost') await gate.passed()
    })
    holdfast.handle('second', (message) => {
      sentIds.push(message.id)
      arrived.push(String(message.payload))
    })
    for (const name of ['first', 'second']) await holdfast.endpoints.create({ name, transport: 'function' })
    for (const name of ['first', 'second']) await holdfast.send(name, 'before')
    await until('both to arrive', () => sentIds.length === 2)
    // What is committed later flushes all that was written before.
    await until(
      'both to be settled',
      async () => (await database.count('select from holdfast_internal.deliveries')) === 0,
    )

    const publisher = await connect()
    const victim = await backend()
    await publisher.query('set synchronous_commit = off')
    // Whoever would take it to the disk stands still: the writer, and what the node commits besides.
    const others = await stopAtRest(publisher)
    await publisher.query(storeUnflushed)
    await until('them to be in flight', () => sentIds.length === 42)
    // All are told to quit before they go on.
    const ended = new Promise((resolve) => publisher.once('end', resolve))
    const recovered = kill(victim)
    await ended
    for (const pid of others) process.kill(pid, 'SIGCONT')
    await recovered
    expect(await database.count(`select from holdfast_internal.messages where body::text = '"lost"'`)).toBe(0)

    // Nobody has looked since: an application in SQL is the first to draw.
    const other = await connect()
    const { rows } = await other.query<{ id: string }>(
      `select holdfast.send('second', to_jsonb('after ' || n)) as id from generate_series(1, 40) as n`,
    )
    gate.open()
    await until('everything to arrive', () => arrived.length >= 41, undefined, 20_000)
    expect(arrived.slice(1).sort()).toEqual(Array.from({ length: 40 }, (_, n) => `after ${n + 1}`).sort())
    expect(new Set(sentIds).size).toBe(82)
    expect(rows.some(({ id }) => sentIds.slice(0, 42).includes(id))).toBe(false)
    await until(
      'nothing to be owed',
      async () => (await database.count('select from holdfast_internal.deliveries')) === 0,
    )
    expect(await database.count('select from holdfast_internal.quarantine')).toBe(0)
  }, 60_000)

  test('ids that an open transaction had drawn are not drawn again, though no node runs', async () => {
    await holdfast.endpoints.create({ name: 'first', transport: 'function' })
    const publisher = await connect()
    await publisher.query('begin')
    const { rows: lost } = await publisher.query<{ id: string }>(
      `select holdfast.send('first', to_jsonb(n)) as id from generate_series(1, 100) as n`,
    )
    await kill(await backend())
    const other = await connect()
    const { rows } = await other.query<{ id: string }>(`select holdfast.send('first', '1') as id`)
    expect(rows[0]?.id.localeCompare(lost.at(-1)?.id ?? '')).toBe(1)
  }, 60_000)

  test('a publish with synchronous_commit off is still there', async () => {
    await holdfast.endpoints.create({ name: 'first', transport: 'function' })
    const publisher = await connect()
    await publisher.query('set synchronous_commit = off')
    await publisher.query(`select holdfast.send('first', '1')`)
    await kill(await backend())
    expect(await database.count('select from holdfast_internal.deliveries')).toBe(1)
  }, 60_000)

  test('a worker continues, and no run is lost', async () => {
    const ran: number[] = []
    const job = defineJob({ name: 'count', run: (input) => void ran.push(input as number) })
    const worker = await createWorker({
      databaseUrl: database.url,
      jobs: [job],
      concurrency: 4,
      journalFolder: null,
    })
    await holdfast.enqueueBatch(
      job,
      Array.from({ length: 200 }, (_, n) => ({ input: n })),
    )
    await kill(await backend())
    await until('the enqueuer to get through', async () =>
      holdfast
        .enqueueBatch(
          job,
          Array.from({ length: 200 }, (_, n) => ({ input: 200 + n })),
        )
        .then(
          () => true,
          () => false,
        ),
    )
    await until('all to have run', () => new Set(ran).size === 400, undefined, 30_000)
    await worker.stop()
  }, 60_000)
})
