import { tmpdir } from 'node:os'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Listener } from '../../src/postgres/listener.ts'
import { closePool, createPool } from '../../src/postgres/pool.ts'
import { testSessionSupport } from '../../src/postgres/self-test.ts'
import { CliProcess, runCli } from '../cli/cli-process.ts'
import { until } from '../support/engine/until.ts'
import { ReplicatedDatabase, replicationSkipped } from '../support/processes/replicated-database.ts'

if (replicationSkipped !== null) console.warn(`URLs with several hosts are not tested: ${replicationSkipped}`)

async function portBehind(connectionString: string): Promise<number> {
  const pool = createPool({ connectionString, max: 1, applicationName: 'hosts', connectTimeoutMs: 5000 })
  try {
    const { rows } = await pool.query<{ port: number }>(`select current_setting('port')::int as port`)
    return rows[0]!.port
  } finally {
    await closePool(pool, 1000)
  }
}

/** One after the other: the last of them kills the primary. */
describe.skipIf(replicationSkipped !== null)('a URL that names a standby and a primary', () => {
  let database: ReplicatedDatabase

  beforeAll(async () => {
    database = await ReplicatedDatabase.start({ isSynchronous: false })
  })

  afterAll(async () => {
    await database[Symbol.asyncDispose]()
  })

  const withAttributes = (attributes: string) =>
    database.url.replace('target_session_attrs=read-write', attributes)
  const cli = (url: string) => ({ cwd: tmpdir(), environment: { HOLDFAST_DATABASE_URL: url } })

  test('leads to the primary, unless any server will do', async () => {
    expect(await portBehind(database.url)).toBe(database.primary.port)
    expect(await portBehind(withAttributes(''))).toBe(database.primary.port)
    expect(await portBehind(withAttributes('target_session_attrs=primary'))).toBe(database.primary.port)
    expect(await portBehind(withAttributes('target_session_attrs=any'))).toBe(database.standby.port)
  })

  test('is rejected if it names only a standby and writes are required', async () => {
    await expect(portBehind(`${database.standby.url}?target_session_attrs=read-write`)).rejects.toMatchObject(
      {
        code: 'database_unavailable',
        message: 'The server is a standby and accepts no writes.',
      },
    )
  })

  test('serves the self-test, the commands and a node', async () => {
    expect(await testSessionSupport(database.url)).toEqual({
      listens: true,
      keepsSessions: true,
      reason: null,
    })
    const keys = ['api-keys', 'create', 'hosts', '--role', 'admin', '--local']
    // The doctor finds fault with this server: it runs without fsync.
    for (const [args, wanted] of [
      [['migrate'], 0],
      [keys, 0],
      [['doctor'], 1],
    ] as const) {
      const { exitCode, stdout, stderr } = await runCli(args, cli(database.url))
      expect(exitCode, `${args.join(' ')}\n${stdout}${stderr}`).toBe(wanted)
      expect(stdout + stderr).not.toContain('s3cret')
      if (wanted === 1) expect(stdout).toMatch(/^ok +database +the server answers$/m)
    }
    await using serve = new CliProcess(['serve'], cli(database.url))
    await serve.waitFor('stderr', /The node delivers/)
    serve.kill('SIGTERM')
    const { exitCode, stderr } = await serve.end()
    expect(exitCode, stderr).toBe(0)
    expect(stderr).not.toContain('s3cret')
  })

  test('keeps a listener listening, and a pool working, after the primary died and the standby was promoted', async () => {
    const heard: string[] = []
    const reconnects: number[] = []
    const listener = new Listener({
      connectionString: database.url,
      channels: ['hosts'],
      onNotification: (_, payload) => heard.push(payload),
      onReconnect: () => reconnects.push(performance.now()),
    })
    const pool = createPool({
      connectionString: database.url,
      max: 2,
      applicationName: 'hosts',
      connectTimeoutMs: 5000,
    })
    try {
      await listener.start()
      await pool.query(`select pg_notify('hosts', 'primary')`)
      await until('the first notification', () => heard.includes('primary'))
      await database.killPrimary()
      const failure: unknown = await pool
        .query('select 1')
        .catch(() => pool.query('select 1').catch((e: unknown) => e))
      expect(failure).toMatchObject({ code: 'database_unavailable' })
      const { message } = failure as Error
      expect(message).toContain(`127.0.0.1:${database.primary.port} (connect ECONNREFUSED`)
      expect(message).toContain(
        `127.0.0.1:${database.standby.port} (The server is a standby and accepts no writes)`,
      )
      expect(message).not.toContain('s3cret')
      await database.promote()
      await until('the listener to be back', () => reconnects.length > 0)
      await pool.query(`select pg_notify('hosts', 'promoted')`)
      await until('the second notification', () => heard.includes('promoted'))
    } finally {
      await listener.stop()
      await closePool(pool, 1000)
    }
  })
})

describe.skipIf(replicationSkipped !== null)('a commit that waits for its synchronous standby', () => {
  test('is not acknowledged because of a timeout', async () => {
    await using database = await ReplicatedDatabase.start({ isSynchronous: true })
    await database.primary.query('create table public.waits (n int)')
    await database.standby.stop()
    const client = new Client({ connectionString: database.primary.url, statement_timeout: 200 })
    await client.connect()
    let isAcknowledged = false
    const insert = async () => {
      await client.query({ name: 'insert', text: 'insert into public.waits values ($1)', values: [1] })
      isAcknowledged = true
    }
    const inserting = insert()
    await until('the commit to have waited longer than its timeout', async () => {
      const waiting = await database.primary.query(
        `select from pg_stat_activity where wait_event = 'SyncRep' and query like 'insert into public.waits%'
           and query_start < clock_timestamp() - interval '1 second'`,
      )
      return waiting.length === 1
    })
    expect(isAcknowledged).toBe(false)
    await database.standby.start()
    await inserting
    await client.end()
  })
})
