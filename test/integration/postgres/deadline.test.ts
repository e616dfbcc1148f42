import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type Pool } from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { isConnectionError } from '../../../src/postgres/connection-error.ts'
import { queryWithDeadline } from '../../../src/postgres/deadline.ts'
import { startEmbeddedPostgres } from '../../../src/postgres/embedded/start-embedded-postgres.ts'
import { closePool, createPool } from '../../../src/postgres/pool.ts'
import { type BlackHole, startBlackHole } from './black-hole.ts'

let relay: BlackHole
let pool: Pool

beforeEach(async () => {
  relay = await startBlackHole(inject('databaseUrl'))
  pool = createPool({
    connectionString: relay.url,
    max: 2,
    applicationName: 'deadline-test',
    connectTimeoutMs: 5_000,
  })
})

afterEach(async () => {
  await closePool(pool, 200)
  await relay.stop()
})

test('a statement that answers in time is just answered', async () => {
  const { rows } = await queryWithDeadline(pool, { text: 'select $1::int as n', values: [7] }, 5_000)
  expect(rows).toEqual([{ n: 7 }])
})

test('a server that falls silent costs the deadline and the connection, not the process', async () => {
  await pool.query('select 1')
  relay.swallow()
  const startedAt = performance.now()
  const error: unknown = await queryWithDeadline(pool, 'select 1', 200).catch((reason: unknown) => reason)

  expect(error).toMatchObject({ code: 'query_timeout', isRetryable: true })
  expect(isConnectionError(error)).toBe(true)
  expect(performance.now() - startedAt).toBeLessThan(5_000)
  await expect.poll(() => relay.openSockets()).toBe(0)
  expect(pool.totalCount).toBe(0)

  relay.carry()
  expect((await queryWithDeadline(pool, 'select 1 as n', 5_000)).rows).toEqual([{ n: 1 }])
})

test('a frozen server costs the deadline and the connection', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-frozen-'))
  const server = await startEmbeddedPostgres({ dataDir: folder })
  const frozen = createPool({
    connectionString: server.connectionString,
    max: 2,
    applicationName: 'frozen',
    connectTimeoutMs: 5_000,
  })
  const { rows } = await frozen.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pids = [server.pid, rows[0]!.pid]
  for (const pid of pids) process.kill(pid, 'SIGSTOP')

  await expect(queryWithDeadline(frozen, 'select 1', 200)).rejects.toMatchObject({
    code: 'query_timeout',
  })
  // The kernel still accepts for the frozen server: a fresh connection hangs in its greeting.
  await expect(queryWithDeadline(frozen, 'select 1', 200)).rejects.toMatchObject({
    code: 'database_unavailable',
  })

  for (const pid of pids) process.kill(pid, 'SIGCONT')
  expect((await queryWithDeadline(frozen, 'select 1 as n', 5_000)).rows).toEqual([{ n: 1 }])
  await closePool(frozen, 1_000)
  await server.stop()
  await rm(folder, { recursive: true })
})

test('the deadline covers the wait for a free connection, which is given back when it comes too late', async () => {
  const lent = [await pool.connect(), await pool.connect()]
  await expect(queryWithDeadline(pool, 'select 1', 50)).rejects.toMatchObject({
    code: 'query_timeout',
  })
  for (const client of lent) client.release()
  await expect.poll(() => pool.idleCount).toBe(2)
})

test('the deadline covers the opening of a connection', async () => {
  relay.swallow()
  await expect(queryWithDeadline(pool, 'select 1', 100)).rejects.toMatchObject({
    code: 'database_unavailable',
  })
})

test('a single client that missed its deadline has lost its socket', async () => {
  const client = new Client({ connectionString: relay.url })
  client.on('error', () => {})
  await client.connect()
  relay.swallow()
  const waiting = client.query('select 1')
  const waitingFails = expect(waiting).rejects.toThrow('Connection terminated')
  await expect(queryWithDeadline(client, 'select 2', 100)).rejects.toMatchObject({
    code: 'query_timeout',
  })
  await waitingFails
  await expect.poll(() => relay.openSockets()).toBe(0)
})

test('a server that takes no writes any more loses its connections', async () => {
  const client = await pool.connect()
  await client.query('set default_transaction_read_only = on')
  client.release()
  expect(pool.totalCount).toBe(1)
  await expect(queryWithDeadline(pool, 'create table refused ()', 5_000)).rejects.toMatchObject({
    code: '25006',
  })
  expect(pool.totalCount).toBe(0)
})

test('a refused statement keeps its connection', async () => {
  await expect(queryWithDeadline(pool, 'select nonsense', 5_000)).rejects.toMatchObject({ code: '42703' })
  expect(pool.idleCount).toBe(1)
})

test('a pool closes though its server is silent', async () => {
  await pool.query('select 1')
  const lent = await pool.connect()
  relay.swallow()
  const connecting = expect(pool.query('select 2')).rejects.toThrow('Connection terminated')
  lent.release()
  await closePool(pool, 100)
  expect(pool.ended).toBe(true)
  await connecting
})

test('connections that break while idle and while in use crash no process', async () => {
  const lent = await pool.connect()
  await pool.query('select 1')
  relay.cut()
  const error: unknown = await lent.query('select 1').catch((reason: unknown) => reason)
  expect(isConnectionError(error)).toBe(true)
  lent.release(error as Error)
  await expect.poll(() => pool.totalCount).toBe(0)
  expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }])
})

test('a terminated backend, a refused connection and a wrong statement are told apart', async () => {
  const client = await pool.connect()
  const terminated: unknown = await client
    .query('select pg_terminate_backend(pg_backend_pid())')
    .catch((reason: unknown) => reason)
  client.release(true)
  expect(isConnectionError(terminated)).toBe(true)

  const refused: unknown = await new Client('postgres://a@localhost:1/a')
    .connect()
    .catch((reason: unknown) => reason)
  expect(isConnectionError(refused)).toBe(true)
  const wrong: unknown = await pool.query('select nonsense').catch((reason: unknown) => reason)
  expect(isConnectionError(wrong)).toBe(false)
  expect(isConnectionError(undefined)).toBe(false)
})

test('bigint is a number, in arrays too, and one that would lose digits is refused', async () => {
  const { rows } = await pool.query(
    `select 9007199254740991::bigint as id, array[1, null, 3]::bigint[] as ids, array[[1, 2]]::bigint[] as nested`,
  )
  expect(rows).toEqual([{ id: 9007199254740991, ids: [1, null, 3], nested: [[1, 2]] }])
  await expect(pool.query('select 9007199254740993::bigint')).rejects.toThrow(RangeError)

  const plain = new Client({ connectionString: inject('databaseUrl') })
  await plain.connect()
  expect((await plain.query('select 1::bigint as n')).rows).toEqual([{ n: '1' }])
  await plain.end()
})
