import { expect, test } from 'vitest'
import { Holdfast } from '../../../src/index.ts'
import { createTestDatabase } from '../../support/test-database.ts'

test('a start that failed can be repeated once its cause is gone', async () => {
  const database = await createTestDatabase({ isMigrated: false })
  const holdfast = new Holdfast({ databaseUrl: database.url })
  try {
    await expect(holdfast.start()).rejects.toMatchObject({ code: 'not_migrated' })
    await holdfast.migrate()
    await holdfast.start()
    expect(holdfast.node?.incarnation).toBeGreaterThan(0)
  } finally {
    await holdfast.stop()
    await database.drop()
  }
})
