import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toProblem } from '../../../src/api/problem.ts'
import { HoldfastError } from '../../../src/core/errors.ts'
import { isConnectionError, isTransientError } from '../../../src/postgres/connection-error.ts'
import { queryWithDeadline } from '../../../src/postgres/deadline.ts'
import { createPool } from '../../../src/postgres/pool.ts'
import { translateError } from '../../../src/storage/translate-error.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

let testDatabase: TestDatabase

beforeAll(async () => {
  testDatabase = await createTestDatabase()
})
afterAll(() => testDatabase.drop())

const poolOf = (max: number, url = testDatabase.url) =>
  createPool({ connectionString: url, max, applicationName: 'holdfast-test', connectTimeoutMs: 10_000 })

async function errorOf(work: Promise<unknown>): Promise<HoldfastError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => translateError(thrown),
  )
  if (!(error instanceof HoldfastError)) throw new Error(`no error of ours, but ${String(error)}`)
  return error
}

describe('a statement that takes longer than it may', () => {
  it('is reported as a timeout when the server cancels it, not as an unavailable database', async () => {
    const pool = createPool({
      connectionString: testDatabase.url,
      max: 1,
      applicationName: 'holdfast-test',
      connectTimeoutMs: 10_000,
    })
    await pool.query('set statement_timeout = 50')
    const error = await errorOf(queryWithDeadline(pool, 'select pg_sleep(10)', 10_000))
    await pool.end()
    expect(error.code).toBe('query_timeout')
    expect(error.message).toContain('Nothing was changed')
    expect(toProblem(error, 'req').status).toBe(504)
    expect(toProblem(error, 'req').body.detail).toContain('narrower filter')
  })

  it('is reported as a timeout when the client gives up, and nodes reconnect', async () => {
    const pool = poolOf(1)
    // Connected already: otherwise connecting may take longer than the deadline.
    await pool.query('select 1')
    const thrown: unknown = await queryWithDeadline(pool, 'select pg_sleep(0.5)', 50).catch(
      (error: unknown) => error,
    )
    await pool.end()
    expect(translateError(thrown)).toMatchObject({ code: 'query_timeout' })
    expect(isConnectionError(thrown)).toBe(true)
    expect(isTransientError(thrown)).toBe(true)
  })

  it('makes those time out that wait for its connection, and the message says so', async () => {
    const pool = poolOf(1)
    await pool.query('select 1')
    const slow = queryWithDeadline(pool, 'select pg_sleep(0.5)', 10_000)
    const error = await errorOf(queryWithDeadline(pool, 'select 1', 50))
    await slow
    await pool.end()
    expect(error).toMatchObject({
      code: 'query_timeout',
      message: expect.stringContaining('None of the 1 database connections'),
    })
  })
})

it('a server that accepts no connection is away', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as { port: number }
  const pool = poolOf(1, `postgres://nobody@127.0.0.1:${port}/nothing`)
  const error = await errorOf(queryWithDeadline(pool, 'select 1', 50))
  silent.close()
  await pool.end()
  expect(error.code).toBe('database_unavailable')
})
