import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRole } from '../support/database-role.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { startTransactionPoolingProxy } from '../support/transaction-pooling-proxy.ts'
import { runCli } from './cli-process.ts'

interface Report {
  readonly exitCode: number | null
  readonly isSound: boolean
  readonly byCheck: Readonly<Record<string, { verdict: string; message: string; advice: string | null }>>
}

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
})

afterEach(async () => {
  await database.drop()
})

async function examine(databaseUrl: string = database.url): Promise<Report> {
  const environment = { HOLDFAST_DATABASE_URL: databaseUrl }
  const { exitCode, stdout } = await runCli(['doctor', '--json'], { cwd: tmpdir(), environment })
  const { isSound, findings } = JSON.parse(stdout)
  return {
    exitCode,
    isSound,
    byCheck: Object.fromEntries(findings.map((each: { check: string }) => [each.check, each])),
  }
}

test('a sound database passes, with a warning that no node runs', async () => {
  const { byCheck } = await examine()
  const { durability, nodes, ...rest } = byCheck
  expect(durability).toBeDefined()
  expect(nodes).toMatchObject({ verdict: 'warn', advice: expect.stringContaining('holdfast serve') })
  for (const finding of Object.values(rest)) expect(finding).toMatchObject({ verdict: 'ok', advice: null })
  expect(Object.keys(byCheck).join(' ')).toBe(
    'database server durability rights clock listen migrations partitions nodes endpoints quarantine sources broker secrets',
  )
})

test('an unmigrated database fails with the command that fixes it', async () => {
  const empty = await createTestDatabase({ isMigrated: false })
  try {
    const { exitCode, isSound, byCheck } = await examine(empty.url)
    expect({ exitCode, isSound }).toEqual({ exitCode: 1, isSound: false })
    expect(byCheck['migrations']).toMatchObject({ verdict: 'fail', advice: 'Run: holdfast migrate' })
    expect(byCheck['partitions']).toBeUndefined()
  } finally {
    await empty.drop()
  }
})

test('a schema from the future fails', async () => {
  await database.pool.query(
    `insert into holdfast_internal.migrations (number, name, checksum) values (9999, 'later', '')`,
  )
  const { byCheck } = await examine()
  expect(byCheck['migrations']).toMatchObject({
    verdict: 'fail',
    message: expect.stringContaining('is at 9999'),
  })
})

test('a missing partition fails with the statement that fixes it, and running it helps', async () => {
  const month = (await database.pool.query(`select to_char(now() at time zone 'UTC', 'YYYY_MM') as month`))
    .rows[0].month
  await database.pool.query(`drop table holdfast_internal.attempts_${month}`)
  const { exitCode, byCheck } = await examine()
  expect(exitCode).toBe(1)
  expect(byCheck['partitions']).toMatchObject({
    verdict: 'fail',
    message: 'attempts have no partition for this month',
    advice: 'Run in SQL: select holdfast.maintain_partitions(3)',
  })
  await database.pool.query('select holdfast.maintain_partitions(3)')
  expect((await examine()).byCheck['partitions']).toMatchObject({ verdict: 'ok' })
})

test('rows that no partition wanted are a warning', async () => {
  await database.pool.query(`insert into holdfast_internal.messages (id, size, body) values (1, 2, '{}')`)
  expect((await examine()).byCheck['partitions']).toMatchObject({
    verdict: 'warn',
    message: expect.stringContaining('1 in messages_default'),
  })
})

test('endpoints that stand still are named with what to do', async () => {
  await database.pool.query(
    `insert into holdfast_internal.endpoints (name, transport, config, settings, state, state_reason)
     values ('crm', 'http', '{}', '{}', 'paused', 'moving house')`,
  )
  expect((await examine()).byCheck['endpoints']).toMatchObject({
    verdict: 'warn',
    message: 'crm is paused (moving house)',
    advice: 'For instance: holdfast endpoints resume crm',
  })
})

test('a role without rights fails with what fixes it: the owner’s role for nodes, publishing alone for an application', async () => {
  const role = await createRole(database, { kind: 'reader' })
  try {
    await database.pool.query(`grant usage on schema holdfast_internal to ${role.name}`)
    const { advice } = (await examine(role.url)).byCheck['rights'] ?? {}
    expect(advice).toMatch(/^To run nodes and workers with it: grant "\w+" to "\w+"\. For an application/)
    expect(advice).not.toContain('on all tables')
    const [, mend = ''] = /as the owner: (.*)$/.exec(advice ?? '') ?? []
    await database.pool.query(mend)
    expect((await examine(role.url)).byCheck['rights']).toMatchObject({
      verdict: 'fail',
      message: `"${role.name}" has only the rights of app: enough for an application, but not to run Holdfast`,
    })
    const [, nodes = ''] = /with it: (.*?)\. For/.exec(advice ?? '') ?? []
    await database.pool.query(nodes)
    expect((await examine(role.url)).byCheck['rights']).toMatchObject({ verdict: 'ok' })
  } finally {
    await role.drop()
  }
})

test('an application that can write API keys is a warning, with the statement that fixes it', async () => {
  const role = await createRole(database, { kind: 'shop' })
  try {
    await database.pool.query(
      `grant usage on schema holdfast_internal to ${role.name}; grant all on all tables in schema holdfast_internal to ${role.name}`,
    )
    const { verdict, message, advice } = (await examine()).byCheck['rights'] ?? {}
    expect({ verdict, message }).toEqual({
      verdict: 'warn',
      message: `"${role.name}" can read API keys, through rights on Holdfast's tables`,
    })
    await database.pool.query(advice?.replace('If it is an application: ', '') ?? '')
    expect((await examine()).byCheck['rights']).toMatchObject({ verdict: 'ok' })
    await expect(role.pool.query('select * from holdfast_internal.api_keys')).rejects.toMatchObject({
      code: '42501',
    })
    await role.pool.query(`select holdfast.declare_job('mail', '{}'), holdfast.enqueue('mail', '1')`)
  } finally {
    await role.drop()
  }
})

test('a proxy that pools transactions is a warning: Holdfast polls behind it', async () => {
  const proxy = await startTransactionPoolingProxy(database.url)
  try {
    const { exitCode, byCheck } = await examine(proxy.url)
    expect(byCheck['listen']).toMatchObject({ verdict: 'warn', message: expect.stringContaining('proxy') })
    expect(byCheck['migrations']).toMatchObject({ verdict: 'ok' })
    expect(exitCode).toBe(byCheck['durability']?.verdict === 'fail' ? 1 : 0)
  } finally {
    await proxy.stop()
  }
})

test('a server that is down fails without a password in sight', async () => {
  const { exitCode, byCheck } = await examine('postgres://ada:s3cretpassword@127.0.0.1:1/app')
  expect(exitCode).toBe(1)
  expect(Object.keys(byCheck)).toEqual(['database'])
  expect(JSON.stringify(byCheck)).not.toContain('s3cretpassword')
})
