import { drizzle } from 'drizzle-orm/node-postgres'
import createKnex from 'knex'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { TransactionClient } from '../../../src/sdk/transaction-client.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const job = defineJob({ name: 'report' })
const changedMind = new Error('changed my mind')

/** As much of Kysely as is used here. Its types are in the package, which need not be there to compile this. */
interface KyselyModule {
  readonly Kysely: new (options: object) => KyselyDatabase
  readonly PostgresDialect: new (options: object) => object
}
interface KyselyDatabase {
  transaction(): { execute(work: (transaction: TransactionClient) => Promise<void>): Promise<void> }
  destroy(): Promise<void>
}
const kyselyName: string = 'kysely'

let database: TestDatabase
let holdfast: Holdfast
let pool: Pool
let knex: createKnex.Knex
let kysely: KyselyDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  holdfast = new Holdfast({ databaseUrl: database.url, maxConnections: 2 })
  await holdfast.migrate()
  await holdfast.endpoints.create({ name: 'crm', transport: 'function', eventTypes: ['order.*'] })
  pool = new Pool({ connectionString: database.url, max: 2 })
  knex = createKnex({ client: 'pg', connection: database.url, pool: { min: 0, max: 1 } })
  const { Kysely, PostgresDialect } = (await import(kyselyName)) as KyselyModule
  kysely = new Kysely({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: database.url, max: 1 }) }),
  })
})

afterAll(async () => {
  await holdfast.stop()
  await pool.end()
  await knex.destroy()
  await kysely.destroy()
  await database.drop()
})

type InTransaction = (work: (transaction: TransactionClient) => Promise<void>) => Promise<void>

/** A transaction of each library, as its users begin one. */
const libraries: readonly (readonly [string, InTransaction])[] = [
  [
    'pg',
    async (work) => {
      const client = await pool.connect()
      try {
        await client.query('begin')
        await work(client)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
  ],
  ['Drizzle', (work) => drizzle(pool).transaction((transaction) => work(transaction))],
  ['Knex', (work) => knex.transaction((transaction) => work(transaction))],
  ['Kysely', (work) => kysely.transaction().execute(work)],
  // What Prisma's own client sends for $queryRawUnsafe: its engine is a download that tests do without.
  [
    'the published types of Prisma',
    async (work) => {
      const client = await pool.connect()
      try {
        await client.query('begin')
        await work({
          $queryRawUnsafe: async (text: string, ...values: never[]) =>
            (await client.query(text, values)).rows,
        })
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
  ],
]

async function owed(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select ((select count(*) from holdfast_internal.deliveries) + (select count(*) from holdfast.owed_runs))::int as count`,
  )
  return rows[0]?.count ?? -1
}

/** Every call that takes a client, with options and without, one and many. */
async function storeAll(client: TransactionClient): Promise<void> {
  const { id, deliveries } = await holdfast.publish('order.created', { id: 17 }, { client })
  expect([id, deliveries]).toEqual([expect.stringMatching(/^msg_/), 1])
  await holdfast.publishBatch(
    [{ type: 'order.created', payload: { text: 'a\nb' }, orderingKey: 'order-17' }],
    { client },
  )
  const sent = await holdfast.send('crm', { id: 17 }, { client, priority: 2 })
  expect(sent.deliveryId).toMatch(/^dlv_/)
  await holdfast.sendBatch('crm', [{ payload: 1 }, { payload: 2 }], { client })
  const run = await holdfast.enqueue(job, { month: '2030-01' }, { client })
  expect(run.id).toMatch(/^run_/)
  await holdfast.enqueueBatch(job, [{ input: 1 }, { input: 2, priority: 1 }], { client })
}
const storedByAll = 8

describe.each(libraries)('a transaction of %s', (_, inTransaction) => {
  test('stores everything when it commits', async () => {
    const before = await owed()
    await inTransaction(async (client) => {
      await storeAll(client)
      expect(await owed(), 'seen from outside before the commit').toBe(before)
    })
    expect(await owed()).toBe(before + storedByAll)
  })

  test('leaves nothing behind when it rolls back', async () => {
    const before = await owed()
    const attempt = inTransaction(async (client) => {
      await storeAll(client)
      throw changedMind
    })
    await expect(attempt).rejects.toThrow(changedMind)
    expect(await owed()).toBe(before)
  })
})

describe('what is no transaction is refused in one sentence', () => {
  const publishWith = (client: unknown) =>
    holdfast.publish('order.created', {}, { client: client as TransactionClient })

  test('Drizzle itself', async () => {
    await expect(publishWith(drizzle(pool))).rejects.toThrow(
      'This Drizzle client is not a transaction on node-postgres: pass the `tx` of db.transaction(async (tx) => …), with a db of drizzle-orm/node-postgres.',
    )
  })

  test('Knex itself, and a transaction of it that has ended', async () => {
    await expect(publishWith(knex)).rejects.toThrow(
      'This is Knex itself and not a transaction: pass the `trx` of knex.transaction(async (trx) => …).',
    )
    let ended: unknown
    await knex.transaction(async (transaction) => {
      await transaction.raw('select 1')
      ended = transaction
    })
    await expect(publishWith(ended)).rejects.toThrow(
      'This Knex transaction has ended: publish before its callback returns.',
    )
  })

  test('Kysely itself', async () => {
    await expect(publishWith(kysely)).rejects.toThrow(
      'This is Kysely itself and not a transaction: pass the `trx` of db.transaction().execute(async (trx) => …).',
    )
  })

  test('Prisma itself', async () => {
    const prisma = { $queryRawUnsafe: async () => [], $transaction: async () => {} }
    await expect(publishWith(prisma)).rejects.toThrow(
      'This is Prisma itself and not a transaction: pass the `tx` of prisma.$transaction(async (tx) => …).',
    )
  })

  test.each([null, 7, 'postgres://localhost/app', {}, () => {}])('%j', async (client) => {
    await expect(publishWith(client)).rejects.toThrow(
      'Holdfast does not support this client: pass a pg client,',
    )
  })

  test('nothing was stored by any of it', async () => {
    const { rows } = await database.pool.query(
      `select 1 from holdfast_internal.messages where body::text = '{}'`,
    )
    expect(rows).toEqual([])
  })
})
