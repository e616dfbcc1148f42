import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiRig } from '../support/api/api-rig.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { type CliOptions, runCli } from './cli-process.ts'

let rig: ApiRig
let database: TestDatabase
let folder: string
let access: Record<string, string>

beforeAll(async () => {
  rig = await ApiRig.create()
  database = rig.database
  folder = await mkdtemp(join(tmpdir(), 'holdfast-cli-'))
  access = { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: await rig.keyOf('admin') }
})

afterAll(async () => {
  await rig.stop()
  await rm(folder, { recursive: true, force: true })
})

/** As an admin; the profiles of whoever runs the tests are left alone. */
function holdfast(args: readonly string[], options: CliOptions = {}) {
  const environment = { XDG_CONFIG_HOME: folder, ...access, ...options.environment }
  return runCli(args, { cwd: folder, ...options, environment })
}

async function json(args: readonly string[]) {
  const { stdout, stderr } = await holdfast([...args, '--json'])
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe('usage', () => {
  test.each([
    [['endpoint'], "unknown command 'endpoint'"],
    [['send', 'inbox'], "missing required argument 'payload'"],
    [['send', 'inbox', '{}', '--header', 'nonsense'], 'Write it as "name: value".'],
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
        ['--header', 'x-team: blue', '--header', 'x-shift: late', '--plain-header', 'x-team'],
        ['--concurrency', '3', '--rate', '0.5'],
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
        headers: { 'x-team': 'blue', 'x-shift': { isSet: true } },
        classify: { 409: 'success' },
      },
      circuit: { threshold: 9 },
      limits: { concurrency: 3, ratePerSecond: 0.5 },
      health: { state: 'active', circuit: { state: 'closed' }, pending: 0 },
    })
  })

  test('a name that is taken ends with 4', async () => {
    await rig.holdfast.endpoints.create({ name: 'twice', config: { url: 'https://example.com' } })
    const { exitCode, stderr } = await holdfast([
      'endpoints',
      'create',
      'twice',
      '--url',
      'https://example.com',
    ])
    expect(exitCode).toBe(4)
    expect(stderr).toContain('An endpoint named "twice" already exists.')
  })

  test('invalid settings end with 2 and say which', async () => {
    const { exitCode, stderr } = await holdfast(['endpoints', 'create', 'bad', '--url', 'ftp://x', '--json'])
    expect(exitCode, stderr).toBe(2)
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'invalid_endpoint' })
    expect(stderr).toContain('must begin with http:// or https://')
  })

  test('a list is a table for people and a page of the API as JSON', async () => {
    await rig.holdfast.endpoints.create({ name: 'listed', config: { url: 'https://example.com/listed' } })
    const table = await holdfast(['endpoints', 'list', '--limit', '1000'])
    expect(table.stdout.split('\n')[0]).toMatch(/^NAME +STATE +CIRCUIT +PENDING +IN FLIGHT +DEAD +TO$/)
    expect(table.stdout).toMatch(/^listed +active +closed +0 +0 +0 +https:\/\/example.com\/listed$/m)
    const { data, nextCursor } = await json(['endpoints', 'list'])
    expect(data.map(({ name }: { name: string }) => name)).toContain('listed')
    expect(nextCursor).toBeNull()
  })

  test('a long list is cut, and says how to go on', async () => {
    for (const name of ['page-1', 'page-2']) {
      await rig.holdfast.endpoints.create({ name, config: { url: 'https://x.example' }, tags: ['paged'] })
    }
    const first = await holdfast(['endpoints', 'list', '--tag', 'paged', '--limit', '1'])
    expect(first.stdout).toContain('page-1')
    expect(first.stdout).not.toContain('page-2')
    const cursor = /--cursor (\S+)/.exec(first.stderr)![1]!
    const second = await holdfast(['endpoints', 'list', '--tag', 'paged', '--cursor', cursor])
    expect(second.stdout).toContain('page-2')
    expect(second.stdout).not.toContain('page-1')
  })

  test('switches turn it off and on', async () => {
    await rig.holdfast.endpoints.create({ name: 'switched', config: { url: 'https://x.example' } })
    const state = async () => {
      const health = await rig.holdfast.endpoints.health('switched')
      return [health.state, health.reason]
    }
    expect((await holdfast(['endpoints', 'pause', 'switched', '--reason', 'moving'])).exitCode).toBe(0)
    expect(await state()).toEqual(['paused', 'moving'])
    expect((await holdfast(['endpoints', 'show', 'switched'])).stderr).toContain('endpoints resume switched')
    await holdfast(['endpoints', 'resume', 'switched'])
    expect(await state()).toEqual(['active', null])
    expect(await json(['endpoints', 'reset-circuit', 'switched'])).toEqual({
      name: 'switched',
      circuit: 'closed',
    })
  })

  test('switches take a tag, and ask first when that stops many', async () => {
    for (const name of ['fleet-1', 'fleet-2']) {
      await rig.holdfast.endpoints.create({ name, config: { url: 'https://x.example' }, tags: ['fleet'] })
    }
    const asked = await holdfast(['endpoints', 'pause', '--tag', 'fleet'])
    expect(asked.exitCode).toBe(4)
    expect(asked.stderr).toContain('This would pause 2 endpoints.')
    expect((await rig.holdfast.endpoints.health('fleet-1')).state).toBe('active')
    const done = await holdfast(['endpoints', 'pause', '--tag', 'fleet', '--yes'])
    expect(done.stdout).toBe('fleet-1 paused\nfleet-2 paused\n')
    expect((await holdfast(['endpoints', 'resume', 'fleet-1', '--all'])).exitCode).toBe(2)
    for (const verb of ['resume', 'enable', 'reset-circuit']) {
      const started = await holdfast(['endpoints', verb, '--tag', 'fleet', '--yes'])
      expect([verb, started.exitCode]).toEqual([verb, 0])
    }
  })

  test('it is updated, and deleted only when that was confirmed', async () => {
    await holdfast(['endpoints', 'create', 'short-lived', '--url', 'https://x.example', '--concurrency', '3'])
    await holdfast(['endpoints', 'update', 'short-lived', '--rate', '5', '--tag', 'x'])
    const { limits, tags } = await rig.holdfast.endpoints.get('short-lived')
    expect([limits.concurrency, limits.ratePerSecond, tags]).toEqual([3, 5, ['x']])
    const asked = await holdfast(['endpoints', 'delete', 'short-lived'])
    expect(asked.exitCode).toBe(4)
    expect(asked.stderr).toContain('repeat the command with --yes')
    expect((await holdfast(['endpoints', 'delete', 'short-lived', '--yes'])).exitCode).toBe(0)
    const { exitCode, stderr } = await holdfast(['endpoints', 'show', 'short-lived'])
    expect(exitCode).toBe(3)
    expect(stderr.toLowerCase()).toContain('there is no endpoint named "short-lived"')
  })
})

describe('send', () => {
  beforeAll(async () => {
    await rig.holdfast.endpoints.create({ name: 'target', config: { url: 'https://x.example' } })
  })

  async function stored(id: string) {
    const { rows } = await database.pool.query(
      `select message.body::text as body, message.type, message.headers, message.correlation_id, owed.priority, owed.ordering_key,
              owed.due_at, owed.expires_at
       from holdfast_internal.messages as message join holdfast_internal.deliveries as owed on owed.message_id = message.id
       where message.id = holdfast.parse_id('msg', $1)`,
      [id],
    )
    return rows[0]
  }

  test('prints the id, and stores the body digit by digit as it was typed', async () => {
    const { stdout, exitCode } = await holdfast(['send', 'target', '{"big": 12345678901234567890}'])
    expect(exitCode).toBe(0)
    expect(await stored(stdout.trim())).toMatchObject({ body: '{"big":12345678901234567890}' })
  })

  test.each(['--type', '--event-type'])('and the lists take the type as %s', async (flag) => {
    const type = `order.${flag.replaceAll('-', '')}`
    const { stdout } = await holdfast(['send', 'target', '{}', flag, type])
    expect(await stored(stdout.trim())).toMatchObject({ type })
    for (const list of [['events'], ['deliveries']]) {
      const { data } = await json([...list, 'list', flag, type])
      expect(data).toHaveLength(1)
    }
  })

  test('takes the body from a file or from standard input', async () => {
    await writeFile(join(folder, 'body.json'), '{"from":"file"}\n')
    const fromFile = await holdfast(['send', 'target', '@body.json'])
    expect(await stored(fromFile.stdout.trim())).toMatchObject({ body: '{"from":"file"}' })
    const fromInput = await holdfast(['send', 'target', '-'], { input: '["from", "input"]' })
    expect(await stored(fromInput.stdout.trim())).toMatchObject({ body: '["from","input"]' })
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
    expect(other.stderr).toContain('was used before with a different body')
  })

  test('--count sends many', async () => {
    await rig.holdfast.endpoints.create({ name: 'many', config: { url: 'https://x.example' } })
    const { stdout } = await holdfast(['send', 'many', '{}', '--count', '300', '--json'])
    expect(JSON.parse(stdout)).toEqual({ count: 300, firstId: expect.stringMatching(/^msg_/) })
    const { rows } = await database.pool.query(
      `select count(*)::int from holdfast_internal.deliveries as owed
       join holdfast_internal.endpoints as endpoint on endpoint.id = owed.lane_id where endpoint.name = 'many'`,
    )
    expect(rows[0]).toEqual({ count: 300 })
  })

  test.each([
    ['a NUL', ['send', 'target', '"\\u0000"'], 2, 'contains a NUL character'],
    [
      'a bad time',
      ['send', 'target', '{}', '--deliver-at', 'soon'],
      2,
      'Write it like 2030-01-31T09:00:00Z, or relative to now like +20s',
    ],
    ['an unknown endpoint', ['send', 'nowhere', '{}'], 3, 'holdfast endpoints create nowhere --url'],
  ])('%s stores nothing', async (_, args, expected, message) => {
    const count = async () =>
      (await database.pool.query('select count(*) from holdfast_internal.messages')).rows[0]
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

test('migrate brings an empty database up to date, once, and migrate --check says before what it will change', async () => {
  const empty = await createTestDatabase({ isMigrated: false })
  try {
    const environment = { HOLDFAST_DATABASE_URL: empty.url }
    const before = await holdfast(['migrate', '--check'], { environment })
    expect(before.exitCode).toBe(1)
    expect(before.stdout).toMatch(/^apply 0001-[\s\S]*^create holdfast\.send$/m)
    expect(before.stdout).toMatch(/The database has no Holdfast schema yet\. Run: holdfast migrate\n$/)
    const first = JSON.parse((await holdfast(['migrate', '--json'], { environment })).stdout)
    expect(first.applied.length).toBe(first.schemaNumber)
    const second = await holdfast(['migrate'], { environment })
    expect(second).toMatchObject({
      exitCode: 0,
      stdout: `The schema is up to date (${first.schemaNumber}).\n`,
    })
    const after = await holdfast(['migrate', '--check', '--json'], { environment })
    expect(after.exitCode).toBe(0)
    expect(JSON.parse(after.stdout)).toMatchObject({
      isUpToDate: true,
      schemaNumber: first.schemaNumber,
      tables: [],
    })
  } finally {
    await empty.drop()
  }
})

describe('a first mistake', () => {
  test.each([
    [
      ['send', 'crm', '{}', '--deliver-at', '20s'],
      'Write it like 2030-01-31T09:00:00Z, or relative to now like +20s, +10m or +2h.',
    ],
    [
      ['send', 'crm', '{}', '--expires-at', 'tomorrow'],
      "option '--expires-at <time>' argument 'tomorrow' is invalid.",
    ],
    [['endpoints', 'create', 'urlless'], 'The endpoint needs a URL: add --url https://…'],
    [
      ['deliveries', 'show', 'msg_00000000010'],
      'There is no delivery "msg_00000000010". That is the id of an event: holdfast events show msg_00000000010',
    ],
    [
      ['events', 'show', 'dlv_00000000010'],
      'There is no event "dlv_00000000010". That is the id of a delivery: holdfast deliveries show dlv_00000000010',
    ],
  ])('%j is answered with what to do', async (args, message) => {
    const { exitCode, stderr } = await holdfast(args)
    expect(exitCode).not.toBe(0)
    expect(stderr.replaceAll('\n', ' ')).toContain(message)
  })
})
