import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from '../../../src/postgres/migrate.ts'
import { findPendingChanges } from '../../../src/postgres/pending-changes.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let folder: string
let functionsDir: string

beforeEach(async () => {
  database = await createTestDatabase({ isMigrated: false })
  folder = await mkdtemp(join(tmpdir(), 'holdfast-tables-'))
  functionsDir = await mkdtemp(join(tmpdir(), 'holdfast-functions-'))
  await write(folder, '0001-first.sql', 'create table holdfast.first (n int)')
  await write(functionsDir, 'revision.json', '{ "revision": 1 }')
  await writeFunction('one', 1)
  await writeFunction('two', 2)
})

afterEach(async () => {
  await rm(folder, { recursive: true })
  await rm(functionsDir, { recursive: true })
  await database.drop()
})

const write = (where: string, file: string, text: string) => writeFile(join(where, file), text)
const writeFunction = (name: string, result: number) =>
  write(
    functionsDir,
    `${name}.sql`,
    `create or replace function holdfast.${name}() returns int language sql as $$ select ${result} $$;`,
  )
const folders = () => ({ tablesDir: folder, functionsDir })
const pending = () => findPendingChanges(database.pool, folders())

test('an empty database lacks everything, and looking creates nothing', async () => {
  expect(await pending()).toEqual({
    isUpToDate: false,
    schemaNumber: 0,
    targetNumber: 1,
    tables: ['0001-first'],
    created: ['holdfast.one', 'holdfast.two'],
    replaced: [],
    dropped: [],
  })
  const { rows } = await database.pool.query(`select from pg_namespace where nspname like 'holdfast%'`)
  expect(rows).toEqual([])
})

test('a migrated database lacks nothing', async () => {
  await migrate(database.url, folders())
  expect(await pending()).toMatchObject({ isUpToDate: true, schemaNumber: 1, targetNumber: 1 })
})

test('a new table file, and functions that are new, changed or gone, are named one by one; migrating then does exactly that', async () => {
  await migrate(database.url, folders())
  await write(folder, '0002-second.sql', 'create table holdfast.second (n int)')
  await write(functionsDir, 'revision.json', '{ "revision": 2 }')
  await writeFunction('two', 22)
  await writeFunction('three', 3)
  await rm(join(functionsDir, 'one.sql'))
  const found = await pending()
  expect(found).toEqual({
    isUpToDate: false,
    schemaNumber: 1,
    targetNumber: 2,
    tables: ['0002-second'],
    created: ['holdfast.three'],
    replaced: ['holdfast.two'],
    dropped: ['holdfast.one'],
  })
  const migrated = await migrate(database.url, folders())
  expect(migrated.applied).toEqual(found.tables)
  expect([...migrated.sources].sort()).toEqual([...found.created, ...found.replaced].sort())
  expect(await pending()).toMatchObject({ isUpToDate: true })
})

test('functions of a newer version are left alone, as migrating leaves them', async () => {
  await migrate(database.url, folders())
  await writeFunction('two', 22)
  await write(functionsDir, 'revision.json', '{ "revision": 0 }')
  expect(await pending()).toMatchObject({ isUpToDate: true })
})

test('a database that a newer version migrated is refused', async () => {
  await migrate(database.url, folders())
  await database.pool.query(`insert into holdfast_internal.migrations values (2, '0002-later', '')`)
  await expect(pending()).rejects.toMatchObject({ code: 'schema_too_new' })
})
