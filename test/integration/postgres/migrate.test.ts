import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PoolClient } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PostgresLogger } from '../../../src/postgres/logger.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { closePool, createPool } from '../../../src/postgres/pool.ts'
import { assertSchema, readSchemaNumber } from '../../../src/postgres/schema.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let tablesDir: string
let functionsDir: string
const folders = () => ({ tablesDir, functionsDir })

beforeEach(async () => {
  database = await createTestDatabase({ isMigrated: false })
  tablesDir = await mkdtemp(join(tmpdir(), 'holdfast-tables-'))
  functionsDir = await mkdtemp(join(tmpdir(), 'holdfast-functions-'))
  await writeFile(join(functionsDir, 'revision.json'), '{ "revision": 1 }')
  await write('0001-first.sql', 'create table holdfast.first (n int)')
  await write(
    '0002-second.sql',
    'create table holdfast.second (n int); insert into holdfast.first values (2)',
  )
  await write('0003-third.sql', 'create table holdfast.third (n int); select pg_sleep(0.05)')
})

afterEach(async () => {
  await rm(tablesDir, { recursive: true })
  await rm(functionsDir, { recursive: true })
  await database.drop()
})

async function write(file: string, sql: string): Promise<void> {
  await writeFile(join(tablesDir, file), sql)
}

async function recorded(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    'select number, name from holdfast_internal.migrations order by number',
  )
  return rows
}

describe('migrate', () => {
  test('applies every migration in order and records each', async () => {
    const result = await migrate(database.url, folders())

    expect(result).toEqual({
      applied: ['0001-first', '0002-second', '0003-third'],
      sources: [],
      schemaNumber: 3,
    })
    expect(await recorded()).toEqual([
      { number: 1, name: '0001-first' },
      { number: 2, name: '0002-second' },
      { number: 3, name: '0003-third' },
    ])
  })

  test('applies nothing the second time, and only what is new the third', async () => {
    await migrate(database.pool, folders())
    expect(await migrate(database.pool, folders())).toMatchObject({ applied: [], schemaNumber: 3 })

    await write('0004-fourth.sql', 'create table holdfast.fourth (n int)')
    expect(await migrate(database.pool, folders())).toMatchObject({
      applied: ['0004-fourth'],
      schemaNumber: 4,
    })
  })

  test('stops at the given number', async () => {
    expect(await migrate(database.pool, { ...folders(), toNumber: 2 })).toMatchObject({ schemaNumber: 2 })
    expect(await readSchemaNumber(database.pool)).toBe(2)
  })

  test('twenty pools that start at once apply each migration once', async () => {
    const pools = Array.from({ length: 20 }, () =>
      createPool({
        connectionString: database.url,
        max: 1,
        applicationName: 'migrator',
        connectTimeoutMs: 10_000,
      }),
    )
    const results = await Promise.all(pools.map((pool) => migrate(pool, folders())))
    await Promise.all(pools.map((pool) => closePool(pool, 1_000)))

    expect(results.flatMap((result) => result.applied).sort()).toEqual([
      '0001-first',
      '0002-second',
      '0003-third',
    ])
    expect(results.every((result) => result.schemaNumber === 3)).toBe(true)
    expect((await database.pool.query('select n from holdfast.first')).rows).toEqual([{ n: 2 }])
  })

  // Each compiles the sources: on a machine that others use too, ten of them take a minute.
  test('ten processes that start at once apply each migration once', { timeout: 240_000 }, async () => {
    const migrateModule = new URL('../../../src/postgres/migrate.ts', import.meta.url).href
    const script = `import { migrate } from '${migrateModule}'
      console.log(JSON.stringify(await migrate(process.env.URL, { tablesDir: process.env.TABLES, functionsDir: process.env.FUNCTIONS })))`
    const outputs = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
          env: { ...process.env, URL: database.url, TABLES: tablesDir, FUNCTIONS: functionsDir },
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        let output = ''
        child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
        await once(child, 'close')
        return JSON.parse(output) as { applied: string[]; schemaNumber: number }
      }),
    )
    expect(outputs.flatMap((output) => output.applied).sort()).toEqual([
      '0001-first',
      '0002-second',
      '0003-third',
    ])
    expect(outputs.map((output) => output.schemaNumber)).toEqual(Array.from({ length: 10 }, () => 3))
  })

  test('rolls a failing migration back whole, keeps the ones before it and says where it failed', async () => {
    await write('0003-third.sql', 'create table holdfast.third (n int);\nselect nonsense')

    await expect(migrate(database.pool, folders())).rejects.toMatchObject({
      code: 'not_migrated',
      message: expect.stringMatching(/0003-third failed at line 2: .*nonsense/),
    })
    expect(await readSchemaNumber(database.pool)).toBe(2)
    const { rows } = await database.pool.query(`select to_regclass('holdfast.third') as third`)
    expect(rows).toEqual([{ third: null }])
  })

  test('refuses a migration that was changed after it had been applied', async () => {
    await migrate(database.pool, folders())
    await write('0002-second.sql', 'create table holdfast.second (n bigint)')

    await expect(migrate(database.pool, folders())).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: expect.stringContaining('0002-second was changed after it had been applied'),
    })
  })

  test('takes a file that only changed its line endings for the same one', async () => {
    await write('0001-first.sql', 'create table holdfast.first (\n n int)')
    await migrate(database.pool, folders())
    await write('0001-first.sql', 'create table holdfast.first (\r\n n int)')
    expect(await migrate(database.pool, folders())).toMatchObject({ applied: [] })
  })

  test('refuses a folder with a gap in its numbers', async () => {
    await write('0005-fifth.sql', 'select 1')
    await expect(migrate(database.pool, folders())).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: expect.stringContaining('must be called 0004-<name>.sql'),
    })
  })

  describe('beside sessions that hold what it needs', () => {
    const noted: { readonly details: object; readonly message: string }[] = []
    const logger: PostgresLogger = {
      info() {},
      warn: (details, message) => void noted.push({ details, message }),
    }
    let other: PoolClient

    beforeEach(async () => {
      noted.length = 0
      await migrate(database.pool, folders())
      await write(
        '0004-fourth.sql',
        'alter table holdfast.first add m int; alter table holdfast.second add m int',
      )
      other = await database.pool.connect()
      // The migration is the one to look for a deadlock, and so its victim.
      await other.query(
        `set deadlock_timeout = '1min'; begin; lock table holdfast.second in access share mode`,
      )
    })

    afterEach(() => other.release(true))

    const isWaiting = () =>
      expect
        .poll(
          async () =>
            (
              await database.pool.query(
                `select from pg_locks where relation = 'holdfast.second'::regclass and not granted`,
              )
            ).rowCount,
          { timeout: 10_000, interval: 10 },
        )
        .toBe(1)

    test('is tried again after a deadlock', async () => {
      const migrated = migrate(database.url, { ...folders(), logger, firstPauseMs: 10 })
      await isWaiting()
      await other.query('lock table holdfast.first in access share mode; commit')

      expect(await migrated).toMatchObject({ applied: ['0004-fourth'], schemaNumber: 4 })
      expect(noted).toEqual([
        {
          message: expect.stringContaining('retrying'),
          details: expect.objectContaining({ migration: '0004-fourth', sqlstate: '40P01', tryNumber: 1 }),
        },
      ])
    })

    test('is tried again after a lock that did not come in time', async () => {
      const migrated = migrate(database.url, {
        ...folders(),
        lockTimeoutMs: 100,
        firstPauseMs: 10,
        logger: {
          ...logger,
          warn: (details, message) => {
            logger.warn(details, message)
            void other.query('commit')
          },
        },
      })

      expect(await migrated).toMatchObject({ applied: ['0004-fourth'], schemaNumber: 4 })
      expect(noted[0]?.details).toMatchObject({ sqlstate: '55P03', tryNumber: 1, pauseMs: 10 })
    })

    test('gives up after so many tries, each after a longer pause, and leaves nothing behind', async () => {
      const migrated = migrate(database.pool, { ...folders(), lockTimeoutMs: 20, logger, firstPauseMs: 5 })

      await expect(migrated).rejects.toMatchObject({
        code: 'not_migrated',
        message: expect.stringMatching(/0004-fourth failed.*lock timeout.*tried 5 times/),
      })
      expect(noted.map(({ details }) => details)).toMatchObject(
        [5, 10, 20, 40].map((pauseMs, index) => ({ pauseMs, tryNumber: index + 1, maxTries: 5 })),
      )
      expect(await readSchemaNumber(database.pool)).toBe(3)
      const { rows } = await database.pool.query(
        `select from pg_attribute where attrelid = 'holdfast.first'::regclass and attname = 'm'`,
      )
      expect(rows).toEqual([])
    })
  })

  test('gives up with advice when another process migrates for too long', async () => {
    await migrate(database.pool, { ...folders(), toNumber: 1 })
    await write('0002-second.sql', `select pg_advisory_xact_lock(1)`)
    const holder = await database.pool.connect()
    await holder.query('select pg_advisory_lock(1)')
    const slow = migrate(database.url, { ...folders(), toNumber: 2 })
    await expect
      .poll(
        async () =>
          (
            await database.pool.query(
              `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
            )
          ).rowCount,
      )
      .toBe(1)

    await expect(migrate(database.pool, { ...folders(), lockTimeoutMs: 50 })).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('Another process has been migrating'),
    })
    await holder.query('select pg_advisory_unlock(1)')
    holder.release()
    await slow
  })
})

describe('assertSchema', () => {
  test('accepts the schema that the code knows', async () => {
    await migrate(database.pool, folders())
    await expect(assertSchema(database.pool, folders())).resolves.toBeUndefined()
  })

  test('refuses a database without our schema and says how to make it', async () => {
    await expect(assertSchema(database.pool, folders())).rejects.toMatchObject({
      code: 'not_migrated',
      message: 'The database has no Holdfast schema yet. Run `holdfast migrate`.',
    })
  })

  test('refuses a schema that lags behind', async () => {
    await migrate(database.pool, { ...folders(), toNumber: 2 })
    await expect(assertSchema(database.pool, folders())).rejects.toMatchObject({
      code: 'not_migrated',
      message: 'The database is at schema 2 of 3. Run `holdfast migrate`.',
    })
  })

  test('refuses a database of the layout before 0.1 with one sentence that says what to do, and so does migrate', async () => {
    await database.pool.query('create schema holdfast; create table holdfast.migrations (number int)')
    const refusal = {
      code: 'configuration_invalid',
      message: expect.stringMatching(/before 0\.1.*use an empty database.*drop schema holdfast cascade/),
    }
    await expect(assertSchema(database.pool, folders())).rejects.toMatchObject(refusal)
    await expect(migrate(database.pool, folders())).rejects.toMatchObject(refusal)
  })

  test('refuses a schema newer than the code, and so does migrate', async () => {
    await migrate(database.pool, folders())
    await rm(join(tablesDir, '0003-third.sql'))
    await expect(assertSchema(database.pool, folders())).rejects.toMatchObject({
      code: 'schema_too_new',
    })
    await expect(migrate(database.pool, folders())).rejects.toMatchObject({ code: 'schema_too_new' })
  })
})
