import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { type CliOptions, runCli } from './cli-process.ts'

let database: TestDatabase
let folder: string

beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'holdfast-cli-'))
})

afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

function holdfast(args: readonly string[], options: CliOptions = {}) {
  const environment = { HOLDFAST_DATABASE_URL: database.url, ...options.environment }
  return runCli(args, { cwd: folder, ...options, environment })
}

describe('without a database', () => {
  test('a command says how to start one, and ends with 5', async () => {
    const { exitCode, stderr, stdout } = await runCli(['endpoints', 'list'], { cwd: folder })
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: '' })
    expect(stderr).toContain('Start one in another terminal with: holdfast dev')
  })

  test('a clone is told the command that works in a clone', async () => {
    const environment = { npm_package_name: 'holdfast', npm_lifecycle_event: 'holdfast' }
    const { stderr } = await runCli(['endpoints', 'list'], { cwd: folder, environment })
    expect(stderr).toContain('Start one in another terminal with: npm run -s holdfast -- dev')
  })

  test("a server that can't be reached is named without its password", async () => {
    const environment = { HOLDFAST_DATABASE_URL: 'postgres://nobody:s3cretpassword@127.0.0.1:1/none' }
    const { exitCode, stderr } = await runCli(['endpoints', 'list'], { cwd: folder, environment })
    expect(exitCode).toBe(5)
    expect(stderr).toContain("The database can't be reached")
    expect(stderr).not.toContain('s3cretpassword')
  })
})

describe('usage', () => {
  test.each([
    [['endpoint'], "unknown command 'endpoint'"],
    [['send', 'inbox'], "missing required argument 'payload'"],
    [['endpoints', 'list', '--limit', 'many'], 'Give a whole number.'],
    [['send', 'inbox', '{}', '--header', 'nonsense'], 'Write it as "name: value".'],
    [['endpoints', 'list', '--colour'], "unknown option '--colour'"],
  ])('%j ends with 2', async (args, message) => {
    const { exitCode, stderr } = await holdfast(args)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
  })

  test('help and version end with 0, on standard output', async () => {
    expect(await holdfast(['--version'])).toMatchObject({ exitCode: 0, stderr: '' })
    const help = await holdfast(['endpoints', 'create', '--help'])
    expect(help).toMatchObject({ exitCode: 0, stderr: '' })
    expect(help.stdout).toContain('--json')
  })

  test('a bad setting ends with 2 and names its source', async () => {
    const { exitCode, stderr } = await holdfast(['doctor'], { environment: { HOLDFAST_LOG_LEVEL: 'loud' } })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('The environment variable HOLDFAST_LOG_LEVEL is "loud"')
  })

  test('a misspelt variable gets a warning, and the command runs', async () => {
    const { exitCode, stderr } = await holdfast(['endpoints', 'list'], {
      environment: { HOLDFAST_DATABSE_URL: 'x' },
    })
    expect(exitCode).toBe(0)
    expect(stderr).toContain('Did you mean HOLDFAST_DATABASE_URL?')
  })
})

describe('endpoints', () => {
  test('an endpoint is created from flags over JSON, and shown', async () => {
    await writeFile(
      join(folder, 'settings.json'),
      '{"circuit": {"threshold": 9}, "limits": {"concurrency": 1}}',
    )
    const created = await holdfast(
      [
        ['endpoints', 'create', 'crm', '--url', 'https://crm.example/hooks', '--preset', 'webhook'],
        ['--header', 'x-team: blue', '--header', 'x-shift: late', '--concurrency', '3', '--rate', '0.5'],
        [
          '--tag',
          'a',
          '--tag',
          'b',
          '--settings',
          '@settings.json',
          '--config',
          '{"classify": {"409": "success"}}',
        ],
      ].flat(),
    )
    expect(created).toMatchObject({ exitCode: 0, stdout: 'crm\n' })
    expect(created.stderr).toContain('holdfast send crm')
    const shown = JSON.parse((await holdfast(['endpoints', 'show', 'crm', '--json'])).stdout)
    expect(shown).toMatchObject({
      preset: 'webhook',
      tags: ['a', 'b'],
      config: {
        url: 'https://crm.example/hooks',
        headers: { 'x-team': 'blue', 'x-shift': 'late' },
        classify: { 409: 'success' },
      },
      circuit: { threshold: 9 },
      limits: { concurrency: 3, ratePerSecond: 0.5 },
      health: { state: 'active', circuit: { state: 'closed' }, pending: 0 },
    })
  })

  test('a name that is taken ends with 4', async () => {
    await holdfast(['endpoints', 'create', 'twice', '--url', 'https://example.com'])
    const { exitCode, stderr } = await holdfast([
      'endpoints',
      'create',
      'twice',
      '--url',
      'https://example.com',
    ])
    expect(exitCode).toBe(4)
    expect(stderr).toContain('There is an endpoint named "twice" already.')
  })

  test('invalid settings end with 2 and say which', async () => {
    const { exitCode, stderr } = await holdfast(['endpoints', 'create', 'bad', '--url', 'ftp://x', '--json'])
    expect(exitCode).toBe(2)
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'invalid_endpoint' })
    expect(stderr).toContain('must begin with http:// or https://')
  })

  test('a list is a table for people and an array as JSON', async () => {
    await holdfast(['endpoints', 'create', 'listed', '--url', 'https://example.com/listed'])
    const table = await holdfast(['endpoints', 'list'])
    expect(table.stdout.split('\n')[0]).toMatch(/^NAME +STATE +CIRCUIT +PENDING +IN FLIGHT +DEAD +TO$/)
    expect(table.stdout).toMatch(/^listed +active +closed +0 +0 +0 +https:\/\/example.com\/listed$/m)
    const listed = JSON.parse((await holdfast(['endpoints', 'list', '--json'])).stdout) as { name: string }[]
    expect(listed.map(({ name }) => name)).toContain('listed')
  })

  test('a long list is cut, and says how to go on', async () => {
    await holdfast(['endpoints', 'create', 'page-1', '--url', 'https://example.com'])
    await holdfast(['endpoints', 'create', 'page-2', '--url', 'https://example.com'])
    const { stdout, stderr } = await holdfast(['endpoints', 'list', '--limit', '1', '--after', 'page'])
    expect(stdout).toContain('page-1')
    expect(stdout).not.toContain('page-2')
    expect(stderr).toContain('holdfast endpoints list --after page-1')
  })

  test('switches turn it off and on', async () => {
    await holdfast(['endpoints', 'create', 'switched', '--url', 'https://example.com'])
    const state = async () => {
      const { health } = JSON.parse((await holdfast(['endpoints', 'show', 'switched', '--json'])).stdout)
      return [health.state, health.reason]
    }
    expect((await holdfast(['endpoints', 'pause', 'switched', '--reason', 'moving'])).exitCode).toBe(0)
    expect(await state()).toEqual(['paused', 'moving'])
    expect((await holdfast(['endpoints', 'show', 'switched'])).stderr).toContain('endpoints resume switched')
    await holdfast(['endpoints', 'resume', 'switched'])
    expect(await state()).toEqual(['active', null])
    await holdfast(['endpoints', 'disable', 'switched'])
    expect(await state()).toEqual(['disabled', null])
    await holdfast(['endpoints', 'enable', 'switched'])
    expect(await state()).toEqual(['active', null])
    const reset = await holdfast(['endpoints', 'reset-circuit', 'switched', '--json'])
    expect(JSON.parse(reset.stdout)).toEqual({ name: 'switched', circuit: 'closed' })
  })

  test.each(['show', 'pause', 'resume', 'disable', 'enable', 'reset-circuit'])(
    '%s of an unknown endpoint ends with 3',
    async (verb) => {
      const { exitCode, stderr } = await holdfast(['endpoints', verb, 'nowhere'])
      expect(exitCode).toBe(3)
      expect(stderr.toLowerCase()).toContain('there is no endpoint named "nowhere"')
    },
  )
})

describe('send', () => {
  beforeAll(async () => {
    await holdfast(['endpoints', 'create', 'target', '--url', 'https://example.com'])
  })

  async function stored(id: string) {
    const { rows } = await database.pool.query(
      `select message.body::text as body, message.type, message.headers, message.correlation_id, owed.priority, owed.ordering_key,
              owed.due_at, owed.expires_at
       from holdfast.messages as message join holdfast.deliveries as owed on owed.message_id = message.id
       where message.id = holdfast.parse_id('msg', $1)`,
      [id],
    )
    return rows[0]
  }

  test('prints the id, and stores the body exactly as it was typed', async () => {
    const { stdout, exitCode } = await holdfast(['send', 'target', '{"big": 12345678901234567890, "a":1.0}'])
    expect(exitCode).toBe(0)
    expect(await stored(stdout.trim())).toMatchObject({ body: '{"big": 12345678901234567890, "a":1.0}' })
  })

  test('takes the body from a file or from standard input', async () => {
    await writeFile(join(folder, 'body.json'), '{"from":"file"}\n')
    const fromFile = await holdfast(['send', 'target', '@body.json'])
    expect(await stored(fromFile.stdout.trim())).toMatchObject({ body: '{"from":"file"}' })
    const fromInput = await holdfast(['send', 'target', '-'], { input: '["from", "input"]' })
    expect(await stored(fromInput.stdout.trim())).toMatchObject({ body: '["from", "input"]' })
  })

  test('passes its options on', async () => {
    const { stdout } = await holdfast(
      [
        ['send', 'target', '{}', '--type', 'order.created', '--key', 'order-7', '--priority', '2', '--json'],
        ['--header', 'x-a: 1', '--correlation-id', 'c-1', '--deliver-at', '2090-01-01T00:00:00Z'],
        ['--expires-at', '2091-01-01T00:00:00+01:00'],
      ].flat(),
    )
    const { id, deliveryId } = JSON.parse(stdout)
    expect(deliveryId).toMatch(/^dlv_/)
    expect(await stored(id)).toEqual({
      body: '{}',
      type: 'order.created',
      headers: { 'x-a': '1' },
      correlation_id: 'c-1',
      priority: 2,
      ordering_key: 'order-7',
      due_at: new Date('2090-01-01T00:00:00Z'),
      expires_at: new Date('2090-12-31T23:00:00Z'),
    })
  })

  test('a time may be a distance from now', async () => {
    const before = Date.now()
    const { stdout } = await holdfast(['send', 'target', '{}', '--deliver-at', '+2h'])
    const { due_at: dueAt } = await stored(stdout.trim())
    expect(dueAt.getTime()).toBeGreaterThanOrEqual(before + 7_200_000)
    expect(dueAt.getTime()).toBeLessThanOrEqual(Date.now() + 7_200_000)
  })

  test('an idempotency key is accepted once, and refused with another body', async () => {
    const args = ['send', 'target', '{"n":1}', '--idempotency-key', 'key-1']
    const first = await holdfast(args)
    expect(await holdfast(args)).toEqual(first)
    const other = await holdfast(['send', 'target', '{"n":2}', '--idempotency-key', 'key-1'])
    expect(other.exitCode).toBe(4)
    expect(other.stderr).toContain('was used before with another body')
  })

  test('--count sends many', async () => {
    await holdfast(['endpoints', 'create', 'many', '--url', 'https://example.com'])
    const { stdout } = await holdfast(['send', 'many', '{}', '--count', '2500', '--json'])
    expect(JSON.parse(stdout)).toEqual({ count: 2500, firstId: expect.stringMatching(/^msg_/) })
    const { rows } = await database.pool.query(
      `select count(*)::int from holdfast.deliveries as owed
       join holdfast.endpoints as endpoint on endpoint.id = owed.lane_id where endpoint.name = 'many'`,
    )
    expect(rows[0]).toEqual({ count: 2500 })
  })

  test.each([
    ['broken JSON', ['send', 'target', '{hello}'], 2, "The payload isn't JSON"],
    ['a NUL', ['send', 'target', '"\\u0000"'], 2, 'contains a NUL character'],
    ['a file that is missing', ['send', 'target', '@nowhere.json'], 2, "The file nowhere.json can't be read"],
    [
      'a bad option',
      ['send', 'target', '{}', '--priority', '9'],
      2,
      'priority: must be a whole number from 0 to 3',
    ],
    [
      'a bad time',
      ['send', 'target', '{}', '--deliver-at', 'soon'],
      2,
      'deliverAt: must be a Date or an ISO 8601 time',
    ],
    ['an unknown endpoint', ['send', 'nowhere', '{}'], 3, 'holdfast endpoints create nowhere --url'],
    ['a count with a key', ['send', 'target', '{}', '--count', '2', '--idempotency-key', 'x'], 2, '--count'],
  ])('%s stores nothing', async (_, args, expected, message) => {
    const count = async () => (await database.pool.query('select count(*) from holdfast.messages')).rows[0]
    const before = await count()
    const { exitCode, stderr, stdout } = await holdfast(args)
    expect({ exitCode, stdout }).toEqual({ exitCode: expected, stdout: '' })
    expect(stderr).toContain(message)
    expect(await count()).toEqual(before)
  })

  test('a payload over the limit ends with 4', async () => {
    await writeFile(join(folder, 'large.json'), JSON.stringify('x'.repeat(1024 * 1024)))
    const { exitCode, stderr } = await holdfast(['send', 'target', '@large.json'])
    expect(exitCode).toBe(4)
    expect(stderr).toContain('the limit is 1048576')
  })
})

test('migrate brings an empty database up to date, once', async () => {
  const empty = await createTestDatabase({ isMigrated: false })
  try {
    const environment = { HOLDFAST_DATABASE_URL: empty.url }
    const listed = await holdfast(['endpoints', 'list'], { environment })
    expect(listed.exitCode).toBe(6)
    const first = JSON.parse((await holdfast(['migrate', '--json'], { environment })).stdout)
    expect(first.applied.length).toBe(first.schemaNumber)
    const second = await holdfast(['migrate'], { environment })
    expect(second).toMatchObject({
      exitCode: 0,
      stdout: `The schema is up to date (${first.schemaNumber}).\n`,
    })
  } finally {
    await empty.drop()
  }
})
