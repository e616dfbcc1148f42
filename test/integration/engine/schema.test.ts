import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const advice = 'run: node scripts/dump-schema.mjs'

describe('the schema', () => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  const read = async (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('--'))

  async function ask(path: string): Promise<string[]> {
    const client = await database.pool.connect()
    try {
      // Names are written with their schema unless the path leads there.
      await client.query('set search_path = pg_catalog')
      const { rows } = await client.query<[string]>({ text: await read(path), rowMode: 'array' })
      return rows.map(([line]) => line)
    } finally {
      client.release(true)
    }
  }

  it('is what src/sql/schema.sql says', async () => {
    expect(await ask('scripts/dump-schema.sql'), advice).toEqual(lines(await read('src/sql/schema.sql')))
  })

  it('keeps every function that an older node may call', async () => {
    const present = new Set(await ask('scripts/list-functions.sql'))
    const gone = lines(await read('src/sql/function-signatures.txt')).filter(
      (signature) => !present.has(signature),
    )
    expect(gone).toEqual([])
  })

  it('lists every function, so that none can vanish unnoticed', async () => {
    const listed = new Set(lines(await read('src/sql/function-signatures.txt')))
    const unlisted = (await ask('scripts/list-functions.sql')).filter((signature) => !listed.has(signature))
    expect(unlisted, advice).toEqual([])
  })
})
