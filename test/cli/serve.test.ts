import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../support/engine/until.ts'
import { answer, gated } from '../support/receivers/behaviours.ts'
import { Gate } from '../support/receivers/gate.ts'
import { HttpReceiver } from '../support/receivers/http-receiver.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { CliProcess, runCli } from './cli-process.ts'

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
})

afterEach(async () => {
  await database.drop()
})

function options(url: string = database.url, environment: Record<string, string> = {}) {
  return { cwd: tmpdir(), environment: { HOLDFAST_DATABASE_URL: url, ...environment } }
}

async function startServe(args: readonly string[] = [], url?: string, environment?: Record<string, string>) {
  const serve = new CliProcess(['serve', ...args], options(url, environment))
  await serve.waitFor('stderr', /The node delivers/)
  return serve
}

/** A key for its database, made beside it, and where the API listens. */
async function accessTo(serve: CliProcess): Promise<Record<string, string>> {
  const created = await runCli(['api-keys', 'create', '--local'], options())
  const [, url] = await serve.waitFor('stderr', /"api":"([^"]+)"/)
  return { HOLDFAST_API_KEY: created.stdout.trim(), HOLDFAST_URL: url! }
}

test('prints no key and no link into a log, and says how to make a key', async () => {
  await using serve = await startServe()
  expect(serve.stderr).toContain('api-keys create --local')
  expect(serve.stderr + serve.stdout).not.toMatch(/hf_|sign-in#/)
  // A collector of logs reads lines of JSON, this one too.
  const lines = serve.stderr.trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContainEqual(
    expect.stringContaining('docker exec <container> holdfast api-keys create --local'),
  )
  const { rows } = await database.pool.query('select 1 from holdfast_internal.api_keys')
  expect(rows, 'a key that nobody has seen').toEqual([])
  const environment = await accessTo(serve)
  const listed = await runCli(['endpoints', 'list'], { cwd: tmpdir(), environment })
  expect(listed.exitCode, listed.stderr).toBe(0)
})

async function createEndpoint(environment: Record<string, string>, url: string): Promise<void> {
  const created = await runCli(['endpoints', 'create', 'crm', '--url', url], { cwd: tmpdir(), environment })
  expect(created.exitCode, created.stderr).toBe(0)
}

test('a message whose attempt is under way at the stop signal is finished, not sent twice', async () => {
  const gate = new Gate()
  await using receiver = await HttpReceiver.start({ behaviour: gated(gate, answer(200)) })
  await using serve = await startServe(['--allow-networks', '127.0.0.1'])
  const environment = await accessTo(serve)
  await createEndpoint(environment, receiver.url)
  const sent = await runCli(['send', 'crm', '{"n":1}'], { cwd: tmpdir(), environment })
  await receiver.ledger.waitFor(1)

  serve.kill('SIGTERM')
  await serve.waitFor('stderr', /Received SIGTERM: waiting for deliveries in flight/)
  gate.open()
  expect(await serve.end()).toMatchObject({ exitCode: 0 })
  expect(receiver.ledger.requests.map(({ webhookId }) => webhookId)).toEqual([sent.stdout.trim()])
  const { rows } = await database.pool.query('select outcome from holdfast_internal.attempts')
  expect(rows).toEqual([{ outcome: 1 }])
})

test('a node whose output nobody reads any more finishes what is under way', async () => {
  const gate = new Gate()
  await using receiver = await HttpReceiver.start({ behaviour: gated(gate, answer(200)) })
  await using serve = await startServe(['--allow-networks', '127.0.0.1'])
  const environment = await accessTo(serve)
  await createEndpoint(environment, receiver.url)
  await runCli(['send', 'crm', '{}'], { cwd: tmpdir(), environment })
  await receiver.ledger.waitFor(1)

  serve.closePipes()
  serve.kill('SIGINT')
  // The API is the first to stop.
  await until('the stop to begin', () =>
    fetch(environment['HOLDFAST_URL']!).then(
      () => false,
      () => true,
    ),
  )
  gate.open()
  expect(await serve.end()).toMatchObject({ exitCode: 0 })
  const { rows } = await database.pool.query('select outcome from holdfast_internal.attempts')
  expect(rows).toEqual([{ outcome: 1 }])
})

test('a second signal ends it at once', async () => {
  await using receiver = await HttpReceiver.start({ behaviour: gated(new Gate(), answer(200)) })
  await using serve = await startServe([], undefined, { HOLDFAST_ALLOW_NETWORKS: '127.0.0.0/8' })
  const environment = await accessTo(serve)
  await createEndpoint(environment, receiver.url)
  await runCli(['send', 'crm', '{}'], { cwd: tmpdir(), environment })
  await receiver.ledger.waitFor(1)
  serve.kill('SIGTERM')
  await serve.waitFor('stderr', /Received SIGTERM/)
  // What npm passes on of one Ctrl-C comes within a quarter of a second and doesn't count.
  await new Promise((resolve) => setTimeout(resolve, 300))
  serve.kill('SIGINT')
  expect(await serve.end()).toMatchObject({ exitCode: 130 })
})

test('needs a database, and says how to give it one', async () => {
  const { exitCode, stderr } = await runCli(['serve'], { cwd: tmpdir() })
  expect(exitCode).toBe(2)
  expect(stderr).toContain('set HOLDFAST_DATABASE_URL=postgres://')
})

test('refuses an unmigrated database with the command that fixes it; --migrate fixes it too', async () => {
  const empty = await createTestDatabase({ isMigrated: false })
  try {
    const refused = await runCli(['serve'], options(empty.url))
    expect(refused.exitCode).toBe(6)
    expect(refused.stderr).toContain('Run `holdfast migrate`.')
    await using serve = await startServe(['--migrate'], empty.url)
    serve.kill('SIGTERM')
    expect(await serve.end()).toMatchObject({ exitCode: 0 })
  } finally {
    await empty.drop()
  }
})

test('refuses a schema that is too new', async () => {
  await database.pool.query(
    `insert into holdfast_internal.migrations (number, name, checksum) values (9999, 'later', '')`,
  )
  const { exitCode, stderr } = await runCli(['serve'], options())
  expect(exitCode).toBe(6)
  expect(stderr).toContain('Upgrade Holdfast.')
})

test('logs JSON without a terminal, and nothing on standard output', async () => {
  await using serve = await startServe(['--node-name', 'node-1'])
  serve.kill('SIGTERM')
  const { stdout, stderr } = await serve.end()
  expect(stdout).toBe('')
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'))
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ level: 'info', node: 'node-1', msg: 'The node delivers' }),
  )
})

test('writes HOLDFAST_MAX_PENDING to the database, where every publisher finds it', async () => {
  await using serve = await startServe([], undefined, { HOLDFAST_MAX_PENDING: '5' })
  const { rows } = await database.pool.query(
    `select value from holdfast_internal.settings where name = 'max_pending'`,
  )
  expect(rows).toEqual([{ value: 5 }])
  await expect(database.pool.query(`select holdfast.set_setting('max_pending', '6')`)).rejects.toMatchObject({
    code: 'HF041',
    message: expect.stringContaining('HOLDFAST_MAX_PENDING on node'),
  })
  serve.kill('SIGTERM')
  await serve.end()
})
