import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unusedFunctions } from '../../../scripts/schema/callers.ts'
import { describeSchema, type SchemaDescription } from '../../../scripts/schema/describe.ts'
import { isKept, parsePromises } from '../../../scripts/schema/promises.ts'
import { readSources } from '../../../src/postgres/sources/source-files.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const advice = 'run: npm run schema'
const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string) => readFile(new URL(`../../../src/sql/${path}`, import.meta.url), 'utf8')

describe('the schema', () => {
  let database: TestDatabase
  let present: SchemaDescription

  beforeAll(async () => {
    database = await createTestDatabase()
    const client = await database.pool.connect()
    try {
      present = await describeSchema(client, root)
    } finally {
      client.release(true)
    }
  })
  afterAll(() => database.drop())

  it('is what src/sql/schema.sql says', async () => {
    const committed = (await read('schema.sql'))
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('--'))
    expect(present.dump, advice).toEqual(committed)
  })

  it('keeps every function and view that users call and read', async () => {
    const promised = parsePromises(await read('promised.txt')).promisedToUsers
    expect(promised.filter((line) => !isKept(line, present.promisedToUsers))).toEqual([])
    expect(present.promisedToUsers, advice).toEqual(promised)
  })

  it('may have more columns in a view behind those that are promised, and no others', () => {
    const promise = 'view holdfast.things (id bigint, name text)'
    expect(isKept(promise, ['view holdfast.things (id bigint, name text, size integer)'])).toBe(true)
    for (const changed of [
      'id bigint',
      'id bigint, name text[]',
      'name text, id bigint',
      'id bigint, size integer, name text',
    ])
      expect(isKept(promise, [`view holdfast.things (${changed})`]), changed).toBe(false)
  })

  it('keeps every function that a node or worker of an older version calls', async () => {
    const promised = parsePromises(await read('promised.txt')).promisedToNodes
    expect(promised.filter((line) => !present.signatures.includes(line))).toEqual([])
    expect(
      present.promisedToNodes.filter((line) => !promised.includes(line)),
      advice,
    ).toEqual([])
  })

  it('has counted the last change of its functions', async () => {
    expect(JSON.parse(await read('functions/revision.json')).checksum, advice).toBe(
      (await readSources()).checksum,
    )
  })

  it('notifies through one function, so that a transaction that notifies may still be prepared', async () => {
    const { sources } = await readSources()
    const inSql = sources.filter(({ sql }) => sql.includes('pg_notify')).map(({ name }) => name)
    expect(inSql).toEqual(['holdfast_internal.notify'])
    const folder = fileURLToPath(new URL('../../../src', import.meta.url))
    const files = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.ts'))
    const texts = await Promise.all(files.map((path) => readFile(join(folder, path), 'utf8')))
    // Those two are statements of their own, on connections of nodes; neither is ever a part of a transaction.
    expect(files.filter((_, index) => texts[index]?.includes('pg_notify')).sort()).toEqual([
      'postgres/self-test.ts',
      'storage/tail.ts',
    ])
  })

  it('has no function that nothing calls', async () => {
    const { promisedToNodes } = parsePromises(await read('promised.txt'))
    expect(await unusedFunctions(root, promisedToNodes)).toEqual([])
  })

  it('has functions whose bodies PostgreSQL accepts', async () => {
    const client = await database.pool.connect()
    try {
      await client.query('set check_function_bodies = on')
      for (const { sql, path } of (await readSources()).sources) {
        await client.query(sql).catch((error: unknown) => {
          throw new Error(path, { cause: error })
        })
      }
    } finally {
      client.release(true)
    }
  })
})
