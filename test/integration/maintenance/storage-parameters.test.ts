import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

/** Tables whose rows come and go all day. */
const hot =
  'dead_letters deliveries idempotency_keys letter_count_changes queue_cursors run_bundles run_claims runs'.split(
    ' ',
  )

describe('storage parameters', () => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await createTestDatabase()
  })

  afterAll(async () => database.drop())

  const optionsOf = async (condition: string, values: readonly unknown[] = []) => {
    const { rows } = await database.pool.query<{ name: string; options: string[] | null }>(
      `select relname as name, reloptions as options from pg_class
       where relnamespace = 'holdfast_internal'::regnamespace and relkind = 'r' and ${condition} order by relname`,
      [...values],
    )
    return rows
  }
  const partitions = `oid in (select inhrelid from pg_inherits where inhparent in ('holdfast_internal.messages'::regclass, 'holdfast_internal.attempts'::regclass))`

  it('let autovacuum clean hot tables after a number of dead rows, not after a share of the table', async () => {
    const tables = await optionsOf('relname = any ($1)', [hot])
    expect(tables.map(({ name }) => name)).toEqual(hot.toSorted())
    for (const { name, options } of tables) {
      expect(options, name).toContain('autovacuum_vacuum_scale_factor=0')
      expect(
        options?.find((option) => option.startsWith('autovacuum_vacuum_threshold=')),
        name,
      ).toMatch(/=1000$|=10000$/)
    }
  })

  it('are the same for every partition, also for one that is created later', async () => {
    const before = await optionsOf(partitions)
    await database.pool.query('select holdfast.maintain_partitions(6)')
    const after = await optionsOf(partitions)
    expect(after.length).toBeGreaterThan(before.length)
    const byCount = [
      'autovacuum_vacuum_insert_scale_factor=0',
      'autovacuum_vacuum_insert_threshold=100000',
      'autovacuum_analyze_scale_factor=0',
      'autovacuum_analyze_threshold=100000',
    ]
    for (const { name, options } of after) expect(options?.toSorted(), name).toEqual(byCount.toSorted())
  })
})
