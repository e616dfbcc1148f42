import { Client } from 'pg'
import { afterEach, expect, inject, test } from 'vitest'
import { migrate } from '../../../src/postgres/migrate.ts'
import { testSessionSupport } from '../../../src/postgres/self-test.ts'
import { createTestDatabase } from '../../support/test-database.ts'
import {
  startTransactionPoolingProxy,
  type TransactionPoolingProxy,
} from '../../support/transaction-pooling-proxy.ts'

let proxy: TransactionPoolingProxy | undefined

afterEach(async () => {
  await proxy?.stop()
  proxy = undefined
})

test('a direct connection listens and keeps its session', async () => {
  expect(await testSessionSupport(inject('databaseUrl'))).toEqual({
    listens: true,
    keepsSessions: true,
    reason: null,
  })
})

test.each([1, 2, 5])('a transaction-pooling proxy with %i backends is found out', async (poolSize) => {
  proxy = await startTransactionPoolingProxy(inject('databaseUrl'), { poolSize })
  expect(await testSessionSupport(proxy.url, { deadlineMs: 3_000 })).toMatchObject({
    listens: false,
    keepsSessions: false,
    reason: expect.stringContaining('a proxy that pools transactions'),
  })
})

test('the proxy loses sessions but keeps transactions whole', async () => {
  proxy = await startTransactionPoolingProxy(inject('databaseUrl'), { poolSize: 2 })
  const [one, two] = [
    new Client({ connectionString: proxy.url }),
    new Client({ connectionString: proxy.url }),
  ]
  await Promise.all([one.connect(), two.connect()])
  const backendOf = async (client: Client) =>
    (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid

  const before = await backendOf(one)
  await two.query('begin')
  expect(await backendOf(two)).toBe(before)
  expect(await backendOf(one)).not.toBe(before)
  expect(await backendOf(two)).toBe(before)
  await two.query('commit')
  await Promise.all([one.end(), two.end()])
})

test('migrations run behind such a proxy, by several at once', async () => {
  const database = await createTestDatabase({ isMigrated: false })
  proxy = await startTransactionPoolingProxy(database.url)
  const { url } = proxy
  const results = await Promise.all(Array.from({ length: 4 }, () => migrate(url)))
  const names = results.flatMap((result) => result.applied)
  expect(new Set(names).size).toBe(names.length)
  expect(names).toHaveLength(results[0]!.schemaNumber)
  await proxy.stop()
  await database.drop()
}, 120_000)

test('a server that cannot be reached is told apart from a proxy', async () => {
  await expect(testSessionSupport('postgres://nobody@127.0.0.1:1/none')).rejects.toMatchObject({
    code: 'database_unavailable',
  })
})
