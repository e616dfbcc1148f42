import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { allKinds } from '../../../src/cli/config-as-code/all-kinds.ts'
import { changesToSend } from '../../../src/cli/config-as-code/compare.ts'
import { showPlan } from '../../../src/cli/config-as-code/format-plan.ts'
import { makePlan } from '../../../src/cli/config-as-code/plan.ts'
import { readConfig } from '../../../src/cli/config-as-code/read-config.ts'
import { HoldfastClient } from '../../../src/client/holdfast-client.ts'
import { HoldfastError } from '../../../src/core/errors.ts'
import { newEncryptionKey } from '../../../src/secrets/keyring.ts'
import { ApiRig } from '../../support/api/api-rig.ts'

const docs = fileURLToPath(new URL('../../../docs/config-as-code.md', import.meta.url))
const signingSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const environment = { CRM_SIGNING_SECRET: signingSecret }

let rig: ApiRig
let client: HoldfastClient
let folder: string

beforeAll(async () => {
  rig = await ApiRig.create({ encryptionKey: newEncryptionKey() })
  client = new HoldfastClient({ url: rig.server.url, apiKey: await rig.keyOf('admin') })
  folder = await mkdtemp(join(tmpdir(), 'holdfast-apply-'))
  await writeFile(join(folder, 'ledger-token'), 'token-of-the-ledger\n')
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  for (const kind of allKinds.toReversed()) {
    for (const { name } of await kind.read(client)) await kind.delete(client, name)
  }
})

async function plan(text: string, options = { prunes: false, setsSecrets: false }) {
  const path = join(folder, 'holdfast.yaml')
  await writeFile(path, text)
  return makePlan(client, await readConfig(path, environment), options)
}

async function apply(text: string, options = { prunes: false, setsSecrets: false }): Promise<string[]> {
  const changes = await plan(text, options)
  for (const change of changes) {
    const { kind, name } = change
    if (change.action === 'create') await kind.create(client, name, change.declared.fields)
    else if (change.action === 'update')
      await kind.update(client, name, changesToSend(change.changes, kind.merged))
    else await kind.delete(client, name)
  }
  return changes.map(({ action, kind, name }) => `${action} ${kind.noun} ${name}`)
}

async function refusal(text: string): Promise<string[]> {
  const error = await plan(text).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(HoldfastError)
  expect((error as HoldfastError).code).toBe('invalid_file')
  return (error as HoldfastError).message
    .replaceAll(join(folder, 'holdfast.yaml'), 'file')
    .split('\n')
    .slice(1)
}

function lineOf(text: string, part: string): number {
  return text.slice(0, text.indexOf(part)).split('\n').length
}

async function example(): Promise<string> {
  return /```yaml\n(.*?)```/s.exec(await readFile(docs, 'utf8'))![1]!
}

test("the documentation's example is applied in order, and applying it again changes nothing", async () => {
  const text = await example()
  expect(await apply(text)).toEqual([
    'create event type order.created',
    'create endpoint crm',
    'create endpoint ledger',
    'create route orders-to-crm',
    'create route orders-to-ledger',
    'create job nightly-report',
    'create alert rule ledger-is-late',
  ])
  expect(await apply(text)).toEqual([])
  const event = { type: 'order.created', payload: { id: 1, amount: 250 } }
  const { matches, rendered } = await client.routes.preview({ body: { route: 'orders-to-crm', event } })
  expect([matches, rendered]).toEqual([true, expect.objectContaining({ body: '{"id":1}' })])
})

test('what was exported is what there is: applying it changes nothing', async () => {
  await apply(await example())
  await rig.holdfast.endpoints.create({
    name: 'shorthand',
    config: { url: 'https://x.example', classify: { 409: 'success' }, timeoutMs: 5000 },
    retry: { strategy: 'schedule', delaysMs: [1000, 2000] },
    eventTypes: ['user.*'],
    batch: { maxMessages: 10 },
  })
  await rig.holdfast.endpoints.create({
    name: 'rabbit',
    transport: 'amqp',
    config: {
      url: 'amqps://ada:s3cret-word@rabbit.example/shop',
      exchange: 'orders',
      routingKey: '{{ id }}',
    },
  })
  const lists: Record<string, unknown> = {}
  for (const kind of allKinds) {
    const items: unknown[] = []
    for (const { name, fields } of await kind.read(client))
      items.push(kind.toFile(fields, await kind.digests?.(client, name)))
    lists[kind.list] = items
  }
  const text = stringify(lists)
  expect(text).not.toContain('isSet')
  expect(text).toMatch(/token: digest:/)
  expect(text).toMatch(/url: digest:/)
  expect(text).not.toContain('s3cret-word')
  expect(text).toMatch(/x-team: digest:/)
  expect(text).not.toMatch(/name: shorthand:/)
  const path = join(folder, 'exported.yaml')
  await writeFile(path, text)
  const config = await readConfig(path, {})
  expect(showPlan(await makePlan(client, config, { prunes: true, setsSecrets: false }))).toEqual([])
  // Changed since: the file no longer says what is there, and can't say what should be.
  await rig.holdfast.endpoints.update('ledger', {
    config: { auth: { type: 'bearer', token: 'another-token' } },
  })
  await expect(makePlan(client, config, { prunes: true, setsSecrets: false })).rejects.toMatchObject({
    code: 'invalid_file',
    message: expect.stringContaining('does not match the digest'),
  })
  // Another server, which has none of it, gets references to fill.
  const ledger = (await allKinds[1]?.read(client))?.find(({ name }) => name === 'ledger')
  expect(JSON.stringify(allKinds[1]?.toFile(ledger?.fields ?? {}))).toContain('env:LEDGER_AUTH_TOKEN')
})

test('values that the server does not show are compared by it: what differs is changed, what is the same is left', async () => {
  const file = (header: string, key: string) =>
    stringify({
      endpoints: [
        {
          name: 'crm',
          config: {
            url: `https://crm.example/in?api_key=${key}`,
            headers: { 'x-team': header, 'x-other': 'o' },
          },
        },
      ],
    })
  expect(await apply(file('blue', 'one'))).toEqual(['create endpoint crm'])
  expect(await apply(file('blue', 'one'))).toEqual([])
  expect(showPlan(await plan(file('red', 'one')))).toMatchObject([{ fields: [{ path: 'config.headers' }] }])
  expect(await apply(file('red', 'one'))).toEqual(['update endpoint crm'])
  expect(showPlan(await plan(file('red', 'two')))).toMatchObject([{ fields: [{ path: 'config.url' }] }])
  expect(await apply(file('red', 'two'))).toEqual(['update endpoint crm'])
  expect(await apply(file('red', 'two'))).toEqual([])
})

test('a URL with a secret path is compared and exported like other secrets', async () => {
  const file = (key: string) =>
    stringify({
      endpoints: [
        { name: 'team', config: { url: `https://hooks.example/services/${key}`, secretPath: true } },
      ],
    })
  expect(await apply(file('one'))).toEqual(['create endpoint team'])
  expect(await apply(file('one'))).toEqual([])
  expect(showPlan(await plan(file('two')))).toMatchObject([{ fields: [{ path: 'config.url' }] }])
  expect(await apply(file('two'))).toEqual(['update endpoint team'])
  const team = (await allKinds[1]?.read(client))?.find(({ name }) => name === 'team')
  const exported = allKinds[1]?.toFile(team?.fields ?? {}, await allKinds[1]?.digests?.(client, 'team'))
  expect(exported).toMatchObject({ config: { url: expect.stringMatching(/^digest:/), secretPath: true } })
  expect(await apply(stringify({ endpoints: [exported] }))).toEqual([])
})

test('only the fields that differ are changed, and what the file leaves out is left alone', async () => {
  await apply(await example())
  await rig.holdfast.endpoints.update('crm', { limits: { maxPending: 77 }, contact: 'ada@example.com' })
  const changed = (await example())
    .replace('ratePerSecond: 50', 'ratePerSecond: 5')
    .replace('{ x-team: blue }', '{ x-crew: red }')
    .replace('filter: $.amount > 100', 'filter: null')
  expect(showPlan(await plan(changed))).toMatchObject([
    {
      action: 'update',
      name: 'crm',
      fields: [
        { path: 'config.headers', from: { 'x-team': { isSet: true } }, to: { 'x-crew': 'red' } },
        { path: 'limits.ratePerSecond', from: 50, to: 5 },
      ],
    },
    { action: 'update', name: 'orders-to-crm', fields: [{ path: 'filter', to: null }] },
  ])
  await apply(changed)
  const crm = await rig.holdfast.endpoints.get('crm')
  expect(crm.limits).toMatchObject({ concurrency: 8, ratePerSecond: 5, maxPending: 77 })
  expect(crm).toMatchObject({
    config: { headers: { 'x-crew': { isSet: true } } },
    contact: 'ada@example.com',
  })
  expect(await apply(changed)).toEqual([])
})

test('jobs are scheduled, overridden, and left to their code when they are pruned', async () => {
  const text = stringify({
    jobs: [
      {
        name: 'report',
        queue: 'reports',
        cron: '0 3 * * *',
        timezone: 'Europe/Amsterdam',
        retry: { maxRetries: 5 },
      },
    ],
  })
  expect(await apply(text)).toEqual(['create job report'])
  expect(await apply(text)).toEqual([])
  expect(await apply(text.replace('maxRetries: 5', 'maxRetries: 7'))).toEqual(['update job report'])
  expect(await client.jobs.get({ params: { name: 'report' } })).toMatchObject({
    queue: 'reports',
    cron: '0 3 * * *',
    retry: { maxRetries: 7 },
  })
  expect(await apply('jobs: []', { prunes: true, setsSecrets: false })).toEqual(['delete job report'])
  expect(await client.jobs.get({ params: { name: 'report' } })).toMatchObject({ cron: null, overrides: {} })
  expect(await apply('jobs: []', { prunes: true, setsSecrets: false })).toEqual([])
})

describe('secrets', () => {
  test('are sent as what their references mean, and appear in no plan', async () => {
    const shown = JSON.stringify(showPlan(await plan(await example())))
    expect(shown).toContain('env:CRM_SIGNING_SECRET')
    expect(shown).not.toContain(signingSecret)
    expect(shown).not.toContain('token-of-the-ledger')
    await apply(await example())
    const { config } = await rig.holdfast.endpoints.get('ledger')
    expect(config).toMatchObject({ auth: { type: 'bearer', token: { isSet: true } } })
  })

  test('already set are sent again only on request', async () => {
    await apply(await example())
    const asked = await plan(await example(), { prunes: false, setsSecrets: true })
    expect(showPlan(asked)).toMatchObject([
      { name: 'crm', fields: [{ path: 'config.headers' }, { path: 'config.signing' }] },
      { name: 'ledger', fields: [{ path: 'config.auth', to: { token: 'file:ledger-token' } }] },
    ])
    expect(JSON.stringify(showPlan(asked))).not.toContain(signingSecret)
  })

  test("that can't be found are reported with their line, and nothing is changed", async () => {
    const text = (await example())
      .replace('env:CRM_SIGNING_SECRET', 'env:NOT_SET')
      .replace('file:ledger-token', 'file:nowhere')
    const problems = await refusal(text)
    expect(problems).toContain(
      `  file:${lineOf(text, 'NOT_SET')}: endpoints[0].config.signing.secret needs the environment variable NOT_SET, which is not set`,
    )
    expect(problems.join('\n')).toContain(
      `file:${lineOf(text, 'nowhere')}: endpoints[1].config.auth.token needs the file nowhere, which can't be read: ENOENT`,
    )
    expect(await rig.holdfast.eventTypes.list()).toEqual([])
  })
})

describe('pruning', () => {
  test('deletes what the lists of the file do not have, routes before endpoints, and no other kind', async () => {
    await apply(await example())
    const text = 'endpoints:\n  - name: ledger\nroutes: []\n'
    expect(await apply(text, { prunes: true, setsSecrets: false })).toEqual([
      'delete route orders-to-crm',
      'delete route orders-to-ledger',
      'delete endpoint crm',
    ])
    expect((await rig.holdfast.eventTypes.list()).map(({ name }) => name)).toEqual(['order.created'])
  })
})

describe('a file that is not right changes nothing, and says where', () => {
  test.each([
    ['broken YAML', 'endpoints: [\n', /file:\d: /],
    [
      'an unknown list',
      'endpoint:\n  - name: a\n',
      'file:1: endpoint is unknown; the known ones are eventTypes, endpoints, routes, jobs, alertRules',
    ],
    ['a list that is none', 'routes: 7\n', 'file:1: routes must be a list'],
    [
      'an unknown field',
      'endpoints:\n  - name: a\n    config:\n      url: https://x.example\n    retry:\n      maxRetrys: 3\n',
      'file:6: endpoints[0].retry.maxRetrys is not a known field',
    ],
    [
      'a wrong value',
      'endpoints:\n  - name: a\n    limits: { concurrency: 0 }\n',
      'file:3: endpoints[0].limits.concurrency must be a whole number',
    ],
    ['a missing URL', 'endpoints:\n  - name: a\n    config: {}\n', 'file:3: endpoints[0].config.url'],
    [
      'a name twice',
      'endpoints:\n  - name: a\n    transport: function\n  - name: a\n    transport: function\n',
      'file:4: endpoints[1] repeats the name "a" from line 2',
    ],
    [
      'an endpoint that is nowhere',
      'routes:\n  - name: r\n    eventType: a.*\n    endpoint: nowhere\n',
      'file:4: routes[0].endpoint names "nowhere"',
    ],
  ])('%s', async (_, text, expected) => {
    const problems = (await refusal(text)).join('\n')
    if (typeof expected === 'string') expect(problems).toContain(expected)
    else expect(problems).toMatch(expected)
  })

  test('a filter and a transform are checked by the server itself before anything is created', async () => {
    await rig.holdfast.endpoints.create({ name: 'there', config: { url: 'https://x.example' } })
    const text = [
      'eventTypes:',
      '  - name: a.b',
      'routes:',
      '  - name: good',
      '    eventType: a.*',
      '    endpoint: there',
      '  - name: bad-filter',
      '    eventType: a.*',
      '    endpoint: there',
      '    filter: $.amount >>> 1',
      '  - name: bad-transform',
      '    eventType: a.*',
      '    endpoint: there',
      '    transform: { type: nonsense }',
    ].join('\n')
    const problems = await refusal(text)
    expect(problems.map((line) => /file:(\d+): (routes\[\d\])/.exec(line)?.slice(1))).toEqual([
      ['10', 'routes[1]'],
      ['14', 'routes[2]'],
    ])
    expect(await rig.holdfast.eventTypes.list()).toEqual([])
  })
})
