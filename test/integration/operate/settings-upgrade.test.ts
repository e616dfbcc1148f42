import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { siteSettings } from '../../../src/core/settings/site-settings.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

/** The last file of tables under which settings had their old names. */
const before = 7

describe('settings that were renamed', () => {
  let database: TestDatabase
  let functionsDir: string
  let holdfast: Holdfast | undefined

  beforeEach(async () => {
    database = await createTestDatabase({ isMigrated: false })
    functionsDir = await mkdtemp(join(tmpdir(), 'holdfast-no-functions-'))
    await writeFile(join(functionsDir, 'revision.json'), '{ "revision": 0 }')
    // As that version made it: the tables, with its names and values in them.
    await migrate(database.pool, { toNumber: before, functionsDir })
  })
  afterEach(async () => {
    await holdfast?.stop()
    await rm(functionsDir, { recursive: true })
    await database.drop()
  })

  async function store(values: Readonly<Record<string, unknown>>): Promise<void> {
    for (const [name, value] of Object.entries(values)) {
      await database.pool.query(
        `insert into holdfast_internal.settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`,
        [name, JSON.stringify(value)],
      )
    }
  }

  async function upgraded(): Promise<Record<string, unknown>> {
    await migrate(database.pool)
    holdfast = new Holdfast({ databaseUrl: database.url })
    return Object.fromEntries((await holdfast.settings.list()).map(({ name, value }) => [name, value]))
  }

  test('keep the values that an operator gave them', async () => {
    await store({
      dlq_retention_days: 90,
      messages_retention_months: 12,
      attempts_retention_months: 3,
      max_pending: 5,
      partition_size: 'week',
    })
    expect(await upgraded()).toMatchObject({
      dead_letter_retention_days: 90,
      archive_retention_months: 12,
      attempts_retention_months: 3,
      max_pending: 5,
      partition_size: 'week',
    })
    const { rows } = await database.pool.query('select name from holdfast.settings order by name')
    expect(rows.map(({ name }: { name: string }) => name)).toEqual(Object.keys(siteSettings).sort())
  })

  test('keep attempts as long as messages where both were the same, also when that changes later', async () => {
    await store({ messages_retention_months: 9, attempts_retention_months: 9 })
    expect(await upgraded()).toMatchObject({ archive_retention_months: 9, attempts_retention_months: 0 })
    await holdfast?.settings.update({ archive_retention_months: 24 })
    const { rows } = await database.pool.query(
      `select holdfast_internal.retention_months('attempts') as attempts, holdfast_internal.retention_months('messages') as messages`,
    )
    expect(rows).toEqual([{ attempts: 24, messages: 24 }])
  })

  test('get their defaults if they were never changed, and exclude the internal maintenance position', async () => {
    await store({ kept_cursor: 4711 })
    const fallbacks = Object.fromEntries(
      Object.entries(siteSettings).map(([name, { fallback }]) => [name, fallback]),
    )
    expect(await upgraded()).toEqual(fallbacks)
    const { rows } = await database.pool.query(
      `select position::int from holdfast_internal.keeper_rounds where name = 'kept'`,
    )
    expect(rows).toEqual([{ position: 4711 }])
  })
})
