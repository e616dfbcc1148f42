import { Client, type Pool } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isConnectionError } from '../../../src/postgres/connection-error.ts'
import { queryWithDeadline } from '../../../src/postgres/deadline.ts'
import { closePool, createPool, type PoolOptions } from '../../../src/postgres/pool.ts'
import { Database } from '../../../src/storage/database.ts'
import { until } from '../../support/engine/until.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { startTransactionPoolingProxy } from '../../support/transaction-pooling-proxy.ts'
import { startBlackHole } from './black-hole.ts'

const deadlineMs = 300

let database: TestDatabase
let other: Client
const pools: Pool[] = []

beforeEach(async () => {
  database = await createTestDatabase({ isMigrated: false })
  await database.pool.query(
    'create table rows_to_lock (id int primary key); insert into rows_to_lock values (1), (2)',
  )
  other = new Client({ connectionString: database.url })
  other.on('error', () => {})
  await other.connect()
})

afterEach(async () => {
  for (const pool of pools.splice(0)) await closePool(pool, 200)
  await other.end()
  await database.drop()
})

function openPool(options: Partial<PoolOptions> = {}): Pool {
  const pool = createPool({
    connectionString: database.url,
    max: 2,
    applicationName: 'given-up',
    connectTimeoutMs: 5000,
    deadlineMs,
    ...options,
  })
  pools.push(pool)
  return pool
}

async function backends(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where application_name = 'given-up' and datname = current_database()`,
  )
  return rows[0]?.count ?? 0
}

const lock = (id: number) => `select from public.rows_to_lock where id = ${id} for update`

test('a statement that its client gave up on stops to wait for its lock', async () => {
  await other.query(`begin; ${lock(1)}`)
  await expect(queryWithDeadline(openPool(), lock(1), deadlineMs)).rejects.toMatchObject({
    code: 'query_timeout',
  })
  await until('the backend to end while the lock is still held', backends, (count) => count === 0)
  await other.query('rollback')
})

test('a transaction whose statement was abandoned releases its locks', async () => {
  const ours = new Database({ pool: openPool(), preparesStatements: false, deadlineMs })
  const working = ours.inTransaction(async (client) => {
    await queryWithDeadline(client, lock(1), deadlineMs)
    await queryWithDeadline(client, 'select pg_sleep(600)', deadlineMs)
  })
  await expect(working).rejects.toMatchObject({ code: 'query_timeout' })
  await other.query(`set lock_timeout = '10s'`)
  await other.query(lock(1))
})

test('a transaction whose client stopped responding releases its locks, and the client gets a lost connection', async () => {
  const relay = await startBlackHole(database.url)
  const pool = openPool({ connectionString: relay.url })
  const client = await pool.connect()
  await client.query('begin')
  await client.query(lock(1))
  relay.swallow()
  await other.query(`set lock_timeout = '10s'`)
  await other.query(lock(1))
  client.release(true)
  await relay.stop()

  const idle = await openPool().connect()
  await idle.query('begin')
  const lost = new Promise<Error>((resolve) => idle.once('error', resolve))
  expect(isConnectionError(await lost)).toBe(true)
  expect(isConnectionError(await idle.query('select 1').catch((error: unknown) => error))).toBe(true)
  idle.release(true)
})

test('what the URL says about timeouts wins', async () => {
  const url = new URL(database.url)
  url.searchParams.set('statement_timeout', '777')
  const { rows } = await openPool({ connectionString: url.href }).query('show statement_timeout')
  expect(rows).toEqual([{ statement_timeout: '777ms' }])
})

test('sessions of our own have the timeouts beside the settings for their plans', async () => {
  const { rows } = await openPool({ plansOnce: true }).query(
    `select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle,
            current_setting('plan_cache_mode') as plans, current_setting('jit') as jit`,
  )
  expect(rows).toEqual([{ statement: '1300ms', idle: '1300ms', plans: 'force_generic_plan', jit: 'off' }])
})

test('behind a proxy that refuses start-up parameters a pool connects without them and sets nothing on shared sessions', async () => {
  const proxy = await startTransactionPoolingProxy(database.url)
  try {
    const pool = openPool({ connectionString: proxy.url })
    const shown = await Promise.all([1, 2].map(() => pool.query('show statement_timeout')))
    expect(shown.map(({ rows }) => rows)).toEqual([
      [{ statement_timeout: '0' }],
      [{ statement_timeout: '0' }],
    ])
  } finally {
    await closePool(pools.pop()!, 200)
    await proxy.stop()
  }
})

test('behind a proxy that refuses them but keeps sessions, the settings are made in each session', async () => {
  const proxy = await startTransactionPoolingProxy(database.url, { poolSize: 1 })
  try {
    const pool = openPool({ connectionString: proxy.url, plansOnce: true, max: 1 })
    const { rows } = await pool.query(
      `select current_setting('statement_timeout') as statement, current_setting('plan_cache_mode') as plans`,
    )
    expect(rows).toEqual([{ statement: '1300ms', plans: 'force_generic_plan' }])
  } finally {
    await closePool(pools.pop()!, 200)
    await proxy.stop()
  }
})
