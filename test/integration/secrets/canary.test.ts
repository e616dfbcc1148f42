import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readJsonObject } from '../../../src/cli/input/read-json-argument.ts'
import { reportError } from '../../../src/cli/output/report-error.ts'
import { loopbackNetworks } from '../../../src/network/network-rules.ts'
import { newEncryptionKey } from '../../../src/secrets/keyring.ts'
import type { EndpointInput } from '../../../src/transports/endpoint-types.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { setup as build } from '../../support/build.ts'
import { until } from '../../support/engine/until.ts'
import { NodeProcess } from '../../support/processes/node-process.ts'
import { answer, choose, echo, hang, script } from '../../support/receivers/behaviours.ts'
import { clientCertificates } from '../../support/receivers/client-certificates.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'
import { selfSigned } from '../../support/receivers/self-signed.ts'

/** Each can be told apart, and each looks different in JSON, in a URL and in base64. */
const canaries = {
  password: 'canary-password+1/"a',
  token: 'canary-token+2/"b',
  apiKey: 'canary-api-key+3/"c',
  header: 'canary-header+4/"d',
  path: 'canary-path+9~h',
  clientSecret: 'canary-client-secret+5/"e',
  accessToken: 'canary-access-token+6/7',
  ownSigning: `whsec_${Buffer.from('canary-signing-secret-of-32-byte').toString('base64')}`,
  rotated: `whsec_${Buffer.from('canary-rotated-secret-of-32-byte').toString('base64')}`,
  passphrase: clientCertificates.client.passphrase,
  privateKey: clientCertificates.client.encryptedKey,
  refused: 'canary-refused+8/"g',
} as const

/** What nobody wrote down in advance: secrets that Holdfast made, and its own key. */
const made: string[] = []
const encryptionKey = process.env['HOLDFAST_ENCRYPTION_KEY'] ?? ''
const quickRetry = { strategy: 'fixed', baseDelayMs: 100, jitter: 'none', maxRetries: 1 } as const

/** Everything that the run leaves behind, by where it was found. */
const left = new Map<string, string[]>()
const keep = (where: string, ...things: unknown[]) => {
  const texts = things.map((thing) =>
    typeof thing === 'string'
      ? thing
      : inspect(thing, { depth: 12, maxStringLength: null, maxArrayLength: null }),
  )
  left.set(where, [...(left.get(where) ?? []), ...texts])
}

let rig: ApiRig
const receivers: HttpReceiver[] = []

async function receiver(options: Parameters<typeof HttpReceiver.start>[0]): Promise<HttpReceiver> {
  const started = await HttpReceiver.start(options)
  receivers.push(started)
  return started
}

/** Every value that goes to the database, as it goes. */
function listenToStatements(): void {
  const query: unknown = Object.getOwnPropertyDescriptor(Client.prototype, 'query')?.value
  vi.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
    const [statement, values] = args as [
      { text?: string; values?: unknown[] } | string,
      unknown[] | undefined,
    ]
    const sent = typeof statement === 'string' ? [statement, values] : [statement.text, statement.values]
    const line = JSON.stringify(sent, (_, value: unknown) => asText(value))
    keep('statements', line)
    return (query as (...given: unknown[]) => unknown).apply(this, args)
  })
}

function asText(value: unknown): unknown {
  const bytes = value as { type?: string; data?: number[] } | null
  return bytes?.type === 'Buffer' ? Buffer.from(bytes.data ?? []).toString('latin1') : value
}

beforeAll(async () => {
  listenToStatements()
  const log = (level: string) => (details: object, message: string) => keep('log', level, message, details)
  rig = await ApiRig.create({
    allowNetworks: loopbackNetworks,
    limits: { beatMs: 100 },
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
  })
}, 60_000)

afterAll(async () => {
  vi.restoreAllMocks()
  await rig.stop()
  await Promise.all(receivers.map((one) => one.stop()))
})

/** Creates over HTTP, twice with one key: the second answer comes out of the database. */
async function create(name: string, config: object, settings: object = {}): Promise<void> {
  const body = {
    name,
    retry: quickRetry,
    circuit: { threshold: 1000 },
    config: { capture: 'all', ...config },
    ...settings,
  }
  const options = { body, headers: { 'idempotency-key': `create-${name}` } }
  const created = await rig.call('POST', '/v1/endpoints', options)
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  const { signingSecret, ...rest } = created.body as { signingSecret?: string }
  if (signingSecret !== undefined) made.push(signingSecret)
  keep('api', rest, (await rig.call('POST', '/v1/endpoints', options)).body)
}

async function refused(work: Promise<unknown>): Promise<void> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(Error)
  keep('errors', error, (error as Error).stack)
}

describe('a busy run with every kind of secret', () => {
  const names = [
    'basic',
    'bearer',
    'api-key',
    'header',
    'path',
    'oauth2',
    'oauth2-refused',
    'tls',
    'signed',
    'flaky',
    'hanging',
  ]

  it('delivers, fails, rotates, crashes and continues', { timeout: 90_000 }, async () => {
    const { holdfast } = rig
    const echoing = await receiver({ behaviour: echo(400) })
    const failing = await receiver({ behaviour: echo(500) })
    const strict = await receiver({ behaviour: echo(401) })
    const secure = await receiver({ clientAuthority: clientCertificates.authority, behaviour: echo(200) })
    const flaky = await receiver({ behaviour: script(echo(503), echo(200)) })
    const hanging = await receiver({ behaviour: hang() })
    const tokens = await receiver({
      behaviour: answer(200, {
        body: JSON.stringify({ access_token: canaries.accessToken, expires_in: 3600 }),
      }),
    })
    const strictTokens = await receiver({
      behaviour: choose((request) => echo(request.index % 2 === 0 ? 401 : 500)),
    })
    const oauth2 = {
      type: 'oauth2',
      clientId: 'crm',
      clientSecret: canaries.clientSecret,
      tokenUrl: tokens.url,
    }
    const signing = { scheme: 'standard-webhooks', secret: canaries.ownSigning }

    await create('basic', {
      url: echoing.url,
      auth: { type: 'basic', username: 'ada', password: canaries.password },
    })
    await create('bearer', { url: failing.url, auth: { type: 'bearer', token: canaries.token } })
    await create('api-key', {
      url: strict.url,
      auth: { type: 'apiKey', header: 'x-crm', key: canaries.apiKey },
    })
    await create('header', {
      url: echoing.url,
      headers: { 'x-shop-secret': canaries.header, 'x-n': '{{ n }}' },
    })
    await create('path', { url: `${echoing.url}/${canaries.path}/in`, secretPath: true })
    await create('oauth2', { url: strict.url, auth: oauth2 })
    await create('oauth2-refused', {
      url: echoing.url,
      auth: { ...oauth2, tokenUrl: strictTokens.url, sendCredentialsIn: 'body' },
    })
    await create('tls', {
      url: secure.url,
      tls: {
        cert: clientCertificates.client.certificate,
        key: canaries.privateKey,
        passphrase: canaries.passphrase,
        ca: selfSigned.certificate,
      },
    })
    await create('signed', { url: echoing.url, signing })
    await create('flaky', { url: flaky.url })
    await create('hanging', { url: hanging.url, auth: { type: 'bearer', token: canaries.token } })

    // A node in a process of its own dies with a request out.
    await build()
    const doomed = await NodeProcess.start({ databaseUrl: rig.database.url, name: 'doomed' })
    await holdfast.send('hanging', { n: 0 })
    await hanging.ledger.waitFor(1)
    doomed.kill()
    await doomed.exited
    keep('process', doomed.describe(), doomed.logLines, doomed.signals)
    hanging.behave(echo(400))

    await holdfast.start()
    for (const name of names) for (const n of [1, 2]) await holdfast.send(name, { n })
    for (const name of ['bearer', 'oauth2', 'path', 'tls', 'flaky']) {
      keep('request()', await holdfast.request(name, { payload: { now: true } }))
    }
    for (const endpoint of ['header', 'path']) {
      const event = { type: 'x', payload: {} }
      keep('preview', await holdfast.routes.preview({ route: { eventType: 'x', endpoint }, event }))
      keep('test', await holdfast.endpoints.test(endpoint))
    }

    await settled()
    const rotate = { body: { secret: canaries.rotated }, headers: { 'idempotency-key': 'rotate' } }
    const rotated = await rig.call('POST', '/v1/endpoints/signed/rotate-secret', rotate)
    expect(rotated.body).toMatchObject({ secret: canaries.rotated })
    keep('api', (await rig.call('POST', '/v1/endpoints/signed/rotate-secret', rotate)).body)
    made.push((await holdfast.endpoints.rotateSecret('flaky')).secret)
    await holdfast.send('signed', { n: 3 })
    await holdfast.endpoints.update('basic', { config: { auth: { type: 'bearer', token: canaries.token } } })
    await holdfast.send('basic', { n: 4 })

    await settled()
    expect((await holdfast.deadLetters.list({ endpoint: 'oauth2' })).data).toHaveLength(2)
  })

  it('refuses what it can not use without repeating it', async () => {
    const { endpoints } = rig.holdfast
    const url = 'https://crm.example'
    const { refused: canary } = canaries
    const configs = [
      { url, auth: { type: 'bearer', token: `${canary}\r\n` } },
      { url, auth: { type: 'basic', username: `a:${canary}`, password: canary } },
      { url, auth: { type: canary, token: canary } },
      { url, athu: { type: 'bearer', token: canary } },
      { url, auth: { type: 'bearer', tokn: canary } },
      { url, signing: { scheme: 'standard-webhooks', secret: canary } },
      { url, signing: { scheme: 'standard-webhooks', secret: `whsec_${canary}` } },
      {
        url,
        tls: {
          cert: clientCertificates.client.certificate,
          key: `-----BEGIN PRIVATE KEY-----\n${canary}\n-----END PRIVATE KEY-----`,
        },
      },
      {
        url,
        tls: { cert: clientCertificates.client.certificate, key: canaries.privateKey, passphrase: canary },
      },
      { url: `https://ada:${canary}@crm.example` },
      { url, headers: { 'x-token': `${canary}\n` } },
      { url, headers: { host: canary } },
    ]
    for (const config of configs) {
      await refused(endpoints.create({ name: 'never', config } as object as EndpointInput))
      keep('api', (await rig.call('POST', '/v1/endpoints', { body: { name: 'never', config } })).body)
    }
    await refused(endpoints.rotateSecret('signed', { secret: `whsec_${canary}` }))
    const client = { databaseUrl: rig.database.url, encryptionKey: `${encryptionKey},${canary}` }
    const { Holdfast } = await import('../../../src/sdk/holdfast.ts')
    expect(() => new Holdfast(client)).toThrow(/^(?!.*canary)/)
    const file = join(tmpdir(), `holdfast-canary-${process.pid}.json`)
    writeFileSync(file, `{"auth": {"password": "${canary}" "oops"}}`)
    await refused(readJsonObject(`@${file}`, '--config'))
    // The parser would quote this.
    await readJsonObject(canary, '--config').catch((error: unknown) => {
      for (const isJson of [true, false]) {
        keep('cli', reportError(error, { isJson, isTerminal: false, environment: {} }))
      }
    })
  })

  it('re-encrypts, and shows everything that can be shown', async () => {
    const { holdfast } = rig
    const { Holdfast } = await import('../../../src/sdk/holdfast.ts')
    const newKey = newEncryptionKey()
    made.push(newKey)
    const other = new Holdfast({ databaseUrl: rig.database.url, encryptionKey: `${newKey},${encryptionKey}` })
    try {
      keep('sdk', await other.secrets.reencrypt(), await other.secrets.status())
    } finally {
      await other.stop()
    }
    const letters = await holdfast.deadLetters.list({})
    keep('sdk', letters, await holdfast.deadLetters.groups({}), await holdfast.endpoints.list())
    for (const { id } of letters.data) keep('sdk', await holdfast.deadLetters.get(id))
    const deliveries = await holdfast.deliveries.list({})
    for (const { id } of deliveries.data) keep('sdk', await holdfast.deliveries.get(id))
    for (const path of [
      '/v1/endpoints',
      '/v1/endpoints/tls',
      '/v1/endpoints/tls/health',
      '/v1/endpoint-health',
      '/v1/audit',
      '/metrics',
      '/v1/events',
    ]) {
      keep('api', (await rig.call('GET', path)).body)
    }
    keep('metrics', await holdfast.renderMetrics())
    keep('log', ...rig.complaints)
  })

  it('leaves no secret anywhere', async () => {
    await keepTables()
    const all = spellingsOf([...Object.values(canaries), ...made, encryptionKey])
    for (const place of [
      'statements',
      'log',
      'api',
      'errors',
      'cli',
      'sdk',
      'metrics',
      'process',
      'request()',
      'preview',
      'test',
      'tables',
    ]) {
      expect(left.get(place)?.join('').length ?? 0, `nothing was looked at in ${place}`).toBeGreaterThan(20)
    }
    const found = [...left].flatMap(([place, texts]) =>
      texts.flatMap((text) =>
        all
          .filter(({ spelling }) => text.includes(spelling))
          .map(
            ({ secret, spelling }) =>
              `${place}: ${secret.slice(0, 24)} as ${spelling.slice(0, 40)} in …${excerpt(text, spelling)}…`,
          ),
      ),
    )
    expect([...new Set(found)]).toEqual([])
  })

  it('would have seen one: what receivers sent back had them', async () => {
    const sent = receivers.flatMap(({ ledger }) =>
      ledger.requests.map(({ path, headers, body }) => JSON.stringify([path, headers, body])),
    )
    const basic = Buffer.from(`ada:${canaries.password}`).toString('base64')
    const inForm = encodeURIComponent(canaries.clientSecret)
    for (const secret of [
      basic,
      inForm,
      canaries.token,
      canaries.apiKey,
      canaries.header,
      canaries.path,
      canaries.accessToken,
    ]) {
      expect(
        sent.some((text) => text.includes(JSON.stringify(secret).slice(1, -1))),
        secret,
      ).toBe(true)
    }
    const kept = left.get('tables')?.join('\n') ?? ''
    expect(kept).toContain('[redacted]')
    expect(kept).toContain('webhook-id')
  })
})

async function settled(): Promise<void> {
  const owed = 'select count(*)::int as owed from holdfast_internal.deliveries'
  await until(
    'everything to be settled',
    async () => (await rig.database.pool.query<{ owed: number }>(owed)).rows[0]?.owed,
    (count) => count === 0,
    60_000,
  )
}

/** All rows of all tables, bytes also as the text that they may be. */
async function keepTables(): Promise<void> {
  const { rows: tables } = await rig.database.pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema = 'holdfast_internal' and table_type = 'BASE TABLE'`,
  )
  expect(tables.length).toBeGreaterThan(20)
  for (const { name } of tables) {
    const { rows } = await rig.database.pool.query<{ text: string }>(
      `select row_to_json(each)::text as text from ${name} as each`,
    )
    if (rows.length > 0) keep('tables', rows.map(({ text }) => `${name} ${text}`).join('\n'))
  }
  const { rows: sealed } = await rig.database.pool.query<{ sealed: Buffer }>(
    'select sealed from holdfast_internal.endpoint_secrets',
  )
  expect(sealed.length).toBeGreaterThan(15)
  keep('tables', ...sealed.map((row) => row.sealed.toString('latin1')))
}

function spellingsOf(secrets: readonly string[]): { readonly secret: string; readonly spelling: string }[] {
  return [...new Set(secrets)].flatMap((secret) => {
    const body = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret
    const forms = [
      secret,
      body,
      Buffer.from(body, secret.startsWith('whsec_') ? 'base64' : 'utf8').toString('latin1'),
      JSON.stringify(secret).slice(1, -1),
      JSON.stringify(JSON.stringify(secret)).slice(3, -3),
      encodeURIComponent(secret),
      new URLSearchParams({ '': secret }).toString().slice(1),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      Buffer.from(secret).toString('hex'),
      Buffer.from(`ada:${secret}`).toString('base64').replace(/=+$/, ''),
      Buffer.from(`crm:${new URLSearchParams({ '': secret }).toString().slice(1)}`)
        .toString('base64')
        .replace(/=+$/, ''),
    ]
    // The heart of a key, without the lines around it.
    if (secret.includes('BEGIN'))
      forms.push(...secret.split('\n').filter((line) => line.length > 40 && !line.includes('---')))
    return [...new Set(forms)].filter((form) => form.length >= 6).map((spelling) => ({ secret, spelling }))
  })
}

function excerpt(text: string, spelling: string): string {
  const at = text.indexOf(spelling)
  return text.slice(Math.max(0, at - 120), at)
}
