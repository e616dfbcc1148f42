import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocks } from '../../cli/docs-blocks.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

/** Our own refusals: the statement and its functions are right, only the id of the example isn't there. */
const ownRefusal = /^HF\d\d\d$/

describe('the SQL of the documentation', () => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  // Creating a database can't be rolled back.
  const examples = blocks().filter(
    ({ language, text }) => language === 'sql' && !/^create database/m.test(text),
  )

  it('is there', () => expect(examples.length).toBeGreaterThan(15))

  it.each(examples)('$place is executed', async ({ text }) => {
    const client = await database.pool.connect()
    try {
      await client.query('begin')
      await client.query(`
        create table orders (id int, total numeric, customer text);
        do $$ begin create role holdfast; exception when duplicate_object then null; end $$`)
      if (!text.includes('create_endpoint'))
        await client.query(
          `select holdfast.create_endpoint('crm', '{"url": "https://crm.example/hooks", "signing": {"scheme": "none"}}')`,
        )
      // All in one transaction of the test, which leaves nothing behind.
      const statements = text.replaceAll(/^(begin|commit);$/gm, '').replaceAll('_…', '_0jm3x1c8000')
      await client.query(statements).catch((error: { code?: string }) => {
        if (!ownRefusal.test(error.code ?? '')) throw error
      })
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})
