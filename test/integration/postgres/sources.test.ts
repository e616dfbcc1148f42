import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../../src/postgres/migrate.ts'
import { assertSchema } from '../../../src/postgres/schema.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let root: string
const folders = () => ({ tablesDir: join(root, 'tables'), functionsDir: join(root, 'functions') })

beforeEach(async () => {
  database = await createTestDatabase({ isMigrated: false })
  root = await mkdtemp(join(tmpdir(), 'holdfast-sources-'))
  await write('tables/0001-baseline.sql', 'create table holdfast_internal.things (id int, name text)')
  await revision(1)
})

afterEach(async () => {
  await rm(root, { recursive: true })
  await database.drop()
})

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}

const revision = (number: number) => write('functions/revision.json', JSON.stringify({ revision: number }))
const apply = async () => (await migrate(database.pool, folders())).sources
const value = async (sql: string) => Object.values((await database.pool.query(sql)).rows[0] as object)[0]

const one = `create or replace function holdfast.one() returns integer language sql return 1`
const twice = `create or replace function holdfast_internal.twice(n integer) returns integer language sql as $$ select n * 2 $$`

describe('functions, views and triggers', () => {
  test('are created after what they need, whatever their names', async () => {
    await write(
      'functions/a/all_things.sql',
      'create or replace view holdfast.all_things as select holdfast_internal.zero() as n',
    )
    await write(
      'functions/z/zero.sql',
      'create or replace function holdfast_internal.zero() returns int language sql return 0',
    )

    expect(await apply()).toEqual(['holdfast_internal.zero', 'holdfast.all_things'])
    expect(await value('select n from holdfast.all_things')).toBe(0)
  })

  test('may name what comes after them inside a body', async () => {
    await write(
      'functions/a/first.sql',
      `create or replace function holdfast.first() returns int language sql as $$ select holdfast_internal.last() $$`,
    )
    await write(
      'functions/z/last.sql',
      `create or replace function holdfast_internal.last() returns int language plpgsql as $$ begin return case when false then holdfast.first() else 7 end; end $$`,
    )
    await apply()
    expect(await value('select holdfast.first()')).toBe(7)
  })

  test('with circular dependencies are rejected by name', async () => {
    await write(
      'functions/a/left.sql',
      'create or replace view holdfast.left as select * from holdfast.right',
    )
    await write(
      'functions/a/right.sql',
      'create or replace view holdfast.right as select * from holdfast.left',
    )
    await expect(apply()).rejects.toThrow('holdfast.left → holdfast.right → holdfast.left')
  })

  test('are applied again only where a file changed, and keep their oid', async () => {
    await write('functions/a/one.sql', one)
    await write('functions/a/twice.sql', twice)
    await apply()
    const oid = await value(`select 'holdfast_internal.twice'::regproc::oid`)
    expect(await apply()).toEqual([])

    await write('functions/a/twice.sql', twice.replace('* 2', '* 2 + 0'))
    expect(await apply()).toEqual(['holdfast_internal.twice'])
    expect(await value(`select 'holdfast_internal.twice'::regproc::oid`)).toBe(oid)
  })

  test('that are removed from the sources are dropped, and objects of others are kept', async () => {
    await write('functions/a/one.sql', one)
    await write('functions/a/twice.sql', twice)
    await write(
      'functions/a/shown.sql',
      'create or replace view holdfast.shown as select id from holdfast_internal.things',
    )
    await write(
      'functions/a/watch.sql',
      `create or replace function holdfast_internal.watch() returns trigger language plpgsql as $$ begin return new; end $$`,
    )
    await write(
      'functions/a/things_watch.sql',
      'create or replace trigger things_watch before update on holdfast_internal.things for each row execute function holdfast_internal.watch()',
    )
    await apply()
    await database.pool.query('create function holdfast.mine() returns int language sql return 5')

    for (const name of ['one', 'shown', 'watch', 'things_watch'])
      await rm(join(root, `functions/a/${name}.sql`))
    await apply()
    expect(await value(`select to_regproc('holdfast.one')`)).toBeNull()
    expect(await value(`select to_regclass('holdfast.shown')`)).toBeNull()
    expect(await value(`select to_regproc('holdfast_internal.watch')`)).toBeNull()
    expect(await value(`select count(*)::int from pg_trigger where tgname = 'things_watch'`)).toBe(0)
    expect(await value('select holdfast.mine() + holdfast_internal.twice(1)')).toBe(7)
  })

  test.each([
    [
      'types of arguments',
      '(n bigint) returns integer language sql as $$ select n::int * 2 $$',
      'select holdfast_internal.twice(4::bigint)',
    ],
    [
      'names of arguments',
      '(number integer) returns integer language sql as $$ select number * 2 $$',
      'select holdfast_internal.twice(number => 4)',
    ],
    [
      'type of the result',
      '(n integer) returns bigint language sql as $$ select n::bigint * 2 $$',
      'select holdfast_internal.twice(4)::int',
    ],
  ])('are replaced when their %s change, together with their dependants', async (_what, rest, call) => {
    await write('functions/a/twice.sql', twice)
    await write(
      'functions/b/doubled.sql',
      'create or replace view holdfast.doubled as select holdfast_internal.twice(4) as n',
    )
    await write(
      'functions/b/of_view.sql',
      'create or replace function holdfast_internal.of_view(given holdfast.doubled) returns text language sql as $$ select given.n::text $$',
    )
    await apply()

    await write('functions/a/twice.sql', `create or replace function holdfast_internal.twice${rest}`)
    await apply()
    expect(await value(call)).toBe(8)
    expect(await value('select holdfast_internal.of_view(doubled) from holdfast.doubled')).toBe('8')
    expect(await value(`select count(*)::int from pg_proc where proname = 'twice'`)).toBe(1)
  })

  test('are replaced when the columns of a view change', async () => {
    await write(
      'functions/a/shown.sql',
      'create or replace view holdfast.shown as select id, name from holdfast_internal.things',
    )
    await apply()
    await write(
      'functions/a/shown.sql',
      'create or replace view holdfast.shown as select name from holdfast_internal.things',
    )
    await apply()
    expect(
      await value(`select count(*)::int from pg_attribute where attrelid = 'holdfast.shown'::regclass`),
    ).toBe(1)
  })

  test('are not changed, with advice, when a foreign view depends on them', async () => {
    await write(
      'functions/a/shown.sql',
      'create or replace view holdfast.shown as select id, name from holdfast_internal.things',
    )
    await apply()
    await database.pool.query('create view public.report as select name from holdfast.shown')
    await write(
      'functions/a/shown.sql',
      'create or replace view holdfast.shown as select name from holdfast_internal.things',
    )

    await expect(apply()).rejects.toMatchObject({
      code: 'not_migrated',
      message: expect.stringMatching(/view.*report depends on.*Drop it/),
    })
    expect(
      await value(`select count(*)::int from pg_attribute where attrelid = 'holdfast.shown'::regclass`),
    ).toBe(2)
  })

  test('are rolled back together when one of them is wrong, and the file and line are named', async () => {
    await write('functions/a/one.sql', one)
    await write(
      'functions/b/wrong.sql',
      'create or replace view holdfast.wrong as\nselect nothing from holdfast_internal.things',
    )
    await expect(apply()).rejects.toMatchObject({
      code: 'not_migrated',
      message: expect.stringMatching(/b\/wrong\.sql failed at line 2: .*nothing/),
    })
    expect(await value(`select to_regproc('holdfast.one')`)).toBeNull()
  })

  test('that a table change had to drop are created again', async () => {
    await write(
      'functions/a/shown.sql',
      'create or replace view holdfast.shown as select * from holdfast_internal.things',
    )
    await apply()
    await write(
      'tables/0002-wider.sql',
      'drop view holdfast.shown; alter table holdfast_internal.things alter id type bigint',
    )
    expect(await apply()).toEqual(['holdfast.shown'])
  })

  test.each([
    ['two objects', `${one};\n${twice}`],
    ['another name', twice],
    ['no replace', one.replace('create or replace', 'create')],
    ['another schema', one.replace('holdfast.one', 'public.one')],
  ])('are rejected in a file with %s', async (_what, text) => {
    await write('functions/a/one.sql', text)
    await expect(apply()).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: expect.stringContaining('a/one.sql must hold exactly one'),
    })
  })

  test('defined by two files are refused', async () => {
    await write('functions/a/one.sql', one)
    await write('functions/b/one.sql', one)
    await expect(apply()).rejects.toThrow('a/one.sql and b/one.sql both define holdfast.one')
  })
})

describe('revisions', () => {
  test('an older version neither replaces newer functions nor refuses to start beside them', async () => {
    await write('functions/a/one.sql', one.replace('return 1', 'return 2'))
    await revision(8)
    await apply()

    await write('functions/a/one.sql', one)
    await revision(7)
    expect(await apply()).toEqual([])
    expect(await value('select holdfast.one()')).toBe(2)
    await expect(assertSchema(database.pool, folders())).resolves.toBeUndefined()
  })

  test('a newer version refuses to start before its functions are applied', async () => {
    await write('functions/a/one.sql', one)
    await apply()
    await write('functions/a/one.sql', one.replace('return 1', 'return 2'))
    await revision(2)
    await expect(assertSchema(database.pool, folders())).rejects.toMatchObject({
      code: 'not_migrated',
      message: expect.stringContaining('Run `holdfast migrate`'),
    })
  })

  test('ten that migrate at once apply everything once', async () => {
    await write('functions/a/one.sql', one)
    await write('functions/a/twice.sql', twice)
    const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(database.url, folders())))
    expect(applied.flatMap(({ sources }) => sources).sort()).toEqual([
      'holdfast.one',
      'holdfast_internal.twice',
    ])
  })
})
