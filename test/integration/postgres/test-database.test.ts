import { expect, test } from 'vitest'
import { assertSchema } from '../../../src/postgres/schema.ts'
import { createTestDatabase } from '../../support/test-database.ts'

test('a test database is migrated, empty and of its own', async () => {
  const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()])
  expect(first.url).not.toBe(second.url)
  await assertSchema(first.pool)
  await assertSchema(second.pool)
  await Promise.all([first.drop(), second.drop()])
})

test('dropping fails when a client was never released', async () => {
  const database = await createTestDatabase()
  const client = await database.pool.connect()
  await expect(database.drop()).rejects.toThrow('1 clients of the test')
  client.release(true)
})
