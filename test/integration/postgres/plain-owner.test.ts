import { randomBytes } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { defineJob, Holdfast, JobWorker } from '../../../src/index.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { findPendingChanges } from '../../../src/postgres/pending-changes.ts'
import { closePool, createPool } from '../../../src/postgres/pool.ts'
import { until } from '../../support/engine/until.ts'

/** What a provider of PostgreSQL gives its customers: a database, and a role that owns it and has no other right on the server. */
const name = `holdfast_test_owner_${process.pid}_${randomBytes(3).toString('hex')}`
const password = randomBytes(9).toString('hex')
let server: Client
let url: string
let pool: Pool

beforeEach(async () => {
  server = new Client({ connectionString: inject('databaseUrl') })
  await server.connect()
  await server.query(
    `create role ${name} login password '${password}' nosuperuser nocreatedb nocreaterole noreplication nobypassrls`,
  )
  await server.query(`create database ${name} owner ${name}`)
  const own = new URL(inject('databaseUrl'))
  own.username = name
  own.password = password
  own.pathname = `/${name}`
  url = own.href
  pool = createPool({
    connectionString: url,
    max: 2,
    applicationName: 'holdfast-test',
    connectTimeoutMs: 10_000,
  })
})

afterEach(async () => {
  await closePool(pool, 10_000)
  await server.query(`drop database ${name} with (force)`)
  await server.query(`drop role ${name}`)
  await server.end()
})

test('a role that owns a database and nothing else migrates it, and runs a node and a worker on it', async () => {
  const { rows } = await pool.query(
    'select rolsuper, rolcreaterole from pg_roles where rolname = current_user',
  )
  expect(rows).toEqual([{ rolsuper: false, rolcreaterole: false }])
  await migrate(url)
  expect(await findPendingChanges(pool)).toMatchObject({ isUpToDate: true })

  const seen: unknown[] = []
  const complaints: string[] = []
  const note = (details: object, message: string) =>
    void complaints.push(`${message} ${JSON.stringify(details)}`)
  const holdfast = new Holdfast({
    databaseUrl: url,
    maxConnections: 4,
    handlers: { hook: ({ payload }) => void seen.push(payload) },
    logger: { debug() {}, info() {}, warn: note, error: note },
  })
  const greet = defineJob({ name: 'greet', run: async () => 'hello' })
  const worker = new JobWorker({ databaseUrl: url, jobs: [greet], journalFolder: null })
  try {
    await holdfast.start()
    await worker.start()
    await holdfast.endpoints.create({ name: 'hook', transport: 'function' })
    await pool.query(`select holdfast.send('hook', '{"by": "sql"}')`)
    await holdfast.send('hook', { by: 'sdk' })
    expect(await (await holdfast.enqueue(greet, {})).result({ timeoutMs: 20_000 })).toBe('hello')
    await until('both messages to arrive', async () => seen.length === 2)
    await pool.query('select holdfast.maintain_partitions(6)')
  } finally {
    await worker.stop()
    await holdfast.stop()
  }
  expect(complaints.filter((line) => /permission|privilege|owner|denied/i.test(line))).toEqual([])
})
