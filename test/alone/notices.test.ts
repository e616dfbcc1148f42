import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Notices } from '../../src/engine/notices.ts'
import { Database } from '../../src/storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

describe('notices', () => {
  let testDatabase: TestDatabase
  let database: Database

  beforeAll(async () => {
    testDatabase = await createTestDatabase()
    database = new Database({ pool: testDatabase.pool, preparesStatements: true, deadlineMs: 15_000 })
  })
  afterAll(() => testDatabase.drop())

  const tell = (payload: string) =>
    testDatabase.pool.query(`select holdfast_internal.tell_nodes('holdfast_lanes', $1)`, [payload])
  const payloads = async (notices: Notices) => (await notices.read()).map(({ payload }) => payload)

  it('are returned once, from the moment of opening on, though an older transaction stays open', async () => {
    await tell('long ago')
    const notices = new Notices(database)
    await notices.open()
    const client = await testDatabase.pool.connect()
    await client.query('begin')
    await client.query('select pg_current_xact_id()')
    await tell('1')
    expect(await payloads(notices)).toEqual(['1'])
    await tell('2')
    expect(await payloads(notices)).toEqual(['2'])
    expect(await payloads(notices)).toEqual([])
    await client.query('commit')
    client.release()
    expect(await payloads(notices)).toEqual([])
    await tell('3')
    expect(await payloads(notices)).toEqual(['3'])
  })

  it('are not missed when they are committed late', async () => {
    const notices = new Notices(database)
    await notices.open()
    const client = await testDatabase.pool.connect()
    await client.query('begin')
    await client.query(`select holdfast_internal.tell_nodes('holdfast_lanes', 'late')`)
    await tell('early')
    expect(await payloads(notices)).toEqual(['early'])
    await client.query('commit')
    client.release()
    expect(await payloads(notices)).toEqual(['late'])
    expect(await payloads(notices)).toEqual([])
  })

  it('are read to the end, however many there are', async () => {
    const notices = new Notices(database)
    await notices.open()
    await testDatabase.pool.query(
      `select holdfast_internal.tell_nodes('holdfast_lanes', number::text) from generate_series(1, 2500) as number`,
    )
    const numbers = (await payloads(notices)).map(Number).toSorted((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 2500 }, (_, index) => index + 1))
    expect(await payloads(notices)).toEqual([])
  })

  it('leave nothing old behind', async () => {
    await testDatabase.pool.query('truncate holdfast_internal.notices')
    await tell('old')
    await testDatabase.pool.query(`update holdfast_internal.notices set at = now() - interval '2 hours'`)
    await tell('new')
    const { rows } = await testDatabase.pool.query('select payload from holdfast_internal.notices')
    expect(rows).toEqual([{ payload: 'new' }])
  })
})
