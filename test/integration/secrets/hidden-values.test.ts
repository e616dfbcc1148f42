import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newEncryptionKey } from '../../../src/secrets/keyring.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { answer, echo } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

let rig: Rig
let receiver: HttpReceiver
let node: RunningNode
let name: string
const encryptionKey = newEncryptionKey()

beforeAll(async () => {
  rig = await Rig.create()
  receiver = await HttpReceiver.start()
  node = await rig.start({ encryptionKey, limits: { beatMs: 100 } })
})
beforeEach(() => {
  name = `hidden-${Math.random().toString(36).slice(2)}`
  receiver.behave(answer(200))
})
afterAll(async () => {
  await rig.stop()
  await receiver.stop()
})

async function create(config: object) {
  return node.holdfast.endpoints.create({ name, config: { url: receiver.url, ...config } })
}

/** Sends one message and returns the request that arrived. */
async function arrive() {
  const { id } = await node.holdfast.send(name, { n: 1 })
  const request = await receiver.ledger.waitForRequest(({ webhookId }) => webhookId === id)
  await rig.whenSettled(name)
  return request
}

/** Everything of this endpoint that is stored unencrypted or shown, but for what was sent. */
async function everythingSeen(): Promise<string> {
  const endpoint = await node.holdfast.endpoints.get(name)
  const [listed] = (await node.holdfast.endpoints.list()).filter((each) => each.name === name)
  const rows = await rig.rows(
    `select (select config::text from holdfast_internal.endpoints where name = $1) as config,
            (select jsonb_agg(to_jsonb(entry))::text from holdfast_internal.audit_log as entry where subject = 'endpoint:' || $1) as audit,
            (select jsonb_agg(to_jsonb(tried))::text from holdfast_internal.attempts as tried
             where lane_id = (select id from holdfast_internal.endpoints where name = $1)) as attempts`,
    [name],
  )
  return JSON.stringify({ endpoint, listed, rows })
}

const storedFields = async () =>
  (
    await rig.rows<{ field: string }>(
      `select field from holdfast_internal.endpoint_secrets join holdfast_internal.endpoints on id = lane_id where name = $1 order by 1`,
      [name],
    )
  ).map(({ field }) => field)

describe('a configured header', () => {
  it.each(['Ocp-Apim-Subscription-Key', 'x-functions-key', 'X-Auth', 'x-hub', 'x-team'])(
    '%s is a secret: stored encrypted, sent, and seen nowhere',
    async (header) => {
      receiver.behave(echo(200))
      await create({ headers: { [header]: 'canary-value-17' }, capture: 'all' })
      const request = await arrive()
      expect(request.headers[header.toLowerCase()]).toBe('canary-value-17')
      expect(await everythingSeen()).not.toContain('canary')
      const { config } = await node.holdfast.endpoints.get(name)
      expect(config).toHaveProperty('headers', { [header]: { isSet: true } })
      expect(await storedFields()).toEqual([`headers.${header}`, 'signing.secret'])
    },
  )

  it('listed in plainHeaders is shown, regardless of case, and is not encrypted', async () => {
    await create({
      headers: { 'X-Team': 'blue-team', 'x-other': 'canary-other' },
      plainHeaders: ['x-team'],
      capture: 'all',
    })
    expect((await arrive()).headers['x-team']).toBe('blue-team')
    const { config } = await node.holdfast.endpoints.get(name)
    expect(config).toHaveProperty('headers', { 'X-Team': 'blue-team', 'x-other': { isSet: true } })
    expect(await everythingSeen()).not.toContain('canary')
  })

  it('can not be made plain without its value, and can with it', async () => {
    await create({ headers: { 'x-team': 'canary-team' } })
    await expect(
      node.holdfast.endpoints.update(name, { config: { plainHeaders: ['x-team'] } }),
    ).rejects.toMatchObject({
      code: 'invalid_endpoint',
      message: expect.stringContaining('pass its value to make it plain'),
    })
    await node.holdfast.endpoints.update(name, {
      config: { plainHeaders: ['x-team'], headers: { 'x-team': 'blue' } },
    })
    expect((await node.holdfast.endpoints.get(name)).config).toHaveProperty('headers', { 'x-team': 'blue' })
    expect(await storedFields()).toEqual(['signing.secret'])
  })

  it('is redacted in a preview', async () => {
    await create({ headers: { 'x-team': 'canary-team', 'x-order': 'canary-{{ id }}' } })
    await node.holdfast.routes.create({ name, eventType: 'order.*', endpoint: name })
    const preview = await node.holdfast.routes.preview({
      route: name,
      event: { type: 'order.created', payload: { id: 7 } },
    })
    expect(JSON.stringify(preview)).not.toContain('canary')
    expect(JSON.stringify(preview)).toContain('[redacted]')
  })
})

describe('the query of a URL', () => {
  it('is a secret under whatever name: sent, and of its values nothing is seen', async () => {
    receiver.behave(echo(200))
    await create({ url: `${receiver.url}/in?api_key=canary-one&code=canary-two`, capture: 'all' })
    expect((await arrive()).path).toBe('/hook/in?api_key=canary-one&code=canary-two')
    expect((await node.holdfast.endpoints.get(name)).config).toHaveProperty(
      'url',
      `${receiver.url}/in?api_key=[hidden]&code=[hidden]`,
    )
    expect(await everythingSeen()).not.toContain('canary')
  })

  it('without a name is hidden as a whole', async () => {
    await create({ url: `${receiver.url}/in?canary-key`, capture: 'all' })
    expect((await arrive()).path).toBe('/hook/in?canary-key')
    expect((await node.holdfast.endpoints.get(name)).config).toHaveProperty(
      'url',
      `${receiver.url}/in?[hidden]`,
    )
    expect(await everythingSeen()).not.toContain('canary')
  })

  it('stays as it is when what was shown is sent back, or the URL is not spoken of', async () => {
    await create({ url: `${receiver.url}/in?api_key=canary` })
    const { config } = await node.holdfast.endpoints.get(name)
    await node.holdfast.endpoints.update(name, { config: { ...config, timeoutMs: 9000 } })
    await node.holdfast.endpoints.update(name, { tags: ['eu'] })
    expect((await arrive()).path).toBe('/hook/in?api_key=canary')
  })

  it('can not be led elsewhere by what was shown, and goes with the URL', async () => {
    await create({ url: `${receiver.url}/in?api_key=canary` })
    await expect(
      node.holdfast.endpoints.update(name, { config: { url: 'https://evil.example/in?api_key=[hidden]' } }),
    ).rejects.toMatchObject({ message: expect.stringContaining('pass the whole URL') })
    await node.holdfast.endpoints.update(name, { config: { url: `${receiver.url}/out` } })
    expect((await arrive()).path).toBe('/hook/out')
    expect(await storedFields()).toEqual(['signing.secret'])
  })

  it('of a token endpoint is a secret too, sent with what was stored', async () => {
    const tokens = await HttpReceiver.start()
    tokens.behave(
      answer(200, { body: JSON.stringify({ access_token: 'first', token_type: 'Bearer', expires_in: 60 }) }),
    )
    const auth = { type: 'oauth2', clientId: 'shop', clientSecret: 'canary-secret' }
    await create({ auth: { ...auth, tokenUrl: `${tokens.url}/token?subscription-key=canary-key` } })
    const { config } = await node.holdfast.endpoints.get(name)
    expect(config).toMatchObject({ auth: { tokenUrl: `${tokens.url}/token?subscription-key=[hidden]` } })
    await node.holdfast.endpoints.update(name, { config: { ...config, timeoutMs: 9000 } })
    expect((await arrive()).headers['authorization']).toBe('Bearer first')
    expect(tokens.ledger.requests.map(({ path }) => path)).toEqual([
      '/hook/token?subscription-key=canary-key',
    ])
    expect(await everythingSeen()).not.toContain('canary')
    await tokens.stop()
  })
})

describe('the path of a URL', () => {
  const path = '/services/T0CANARY1/B0CANARY2/canaryToken3'
  const shown = () => `${new URL(receiver.url).origin}/[hidden]`
  const createHidden = async (config: object = {}) =>
    create({ url: new URL(path, receiver.url).href, secretPath: true, ...config })
  /** In any case: parts of the path are in capitals. */
  const expectNoCanary = (seen: unknown) => expect(JSON.stringify(seen).toLowerCase()).not.toContain('canary')

  it('is a secret where secretPath says so: sent, and nothing of it is seen', async () => {
    receiver.behave(echo(400))
    await createHidden({ capture: 'all' })
    expect((await arrive()).path).toBe(path)
    expect((await node.holdfast.endpoints.get(name)).config).toMatchObject({ url: shown(), secretPath: true })
    expect(await storedFields()).toEqual(['signing.secret', 'url'])
    expectNoCanary(await everythingSeen())
    expectNoCanary(await node.holdfast.endpoints.test(name))
    expect(await node.holdfast.endpoints.listHealth({ nameHas: name })).toMatchObject([{ url: shown() }])
    expectNoCanary(await node.holdfast.deadLetters.list({ endpoint: name }))
    expectNoCanary(await rig.rows('select holdfast.update_endpoint($1, $2)', [name, { tags: ['eu'] }]))
  })

  it('is not in errors, in answers to request(), in a preview, or in a redirect that is explained', async () => {
    await createHidden()
    receiver.behave(answer(307, { headers: { location: `${path}/there` } }))
    expectNoCanary(await node.holdfast.endpoints.test(name))
    receiver.behave(echo(200))
    expectNoCanary(await node.holdfast.request(name, { path: 'below', payload: { n: 1 } }))
    await node.holdfast.routes.create({ name, eventType: 'order.*', endpoint: name })
    const preview = await node.holdfast.routes.preview({
      route: name,
      event: { type: 'order.created', payload: {} },
    })
    expect(JSON.stringify(preview)).toContain(`${new URL(receiver.url).origin}/%5Bredacted%5D`)
    expectNoCanary(preview)
  })

  it('stays as it is when what was shown is sent back, and leads nowhere else', async () => {
    await createHidden()
    const { config } = await node.holdfast.endpoints.get(name)
    await node.holdfast.endpoints.update(name, { config: { ...config, timeoutMs: 9000 } })
    expect((await arrive()).path).toBe(path)
    await expect(
      node.holdfast.endpoints.update(name, { config: { url: 'https://evil.example/[hidden]' } }),
    ).rejects.toMatchObject({ message: expect.stringContaining('pass the whole URL') })
  })

  it('is hidden from when secretPath is set, in the audit log of that change too', async () => {
    await create({ url: new URL('/plain', receiver.url).href })
    await rig.rows(`update holdfast_internal.endpoints set config = config || $2 where name = $1`, [
      name,
      { url: new URL(path, receiver.url).href },
    ])
    await node.holdfast.endpoints.update(name, { config: { secretPath: true } })
    expectNoCanary(await everythingSeen())
    expect((await arrive()).path).toBe(path)
  })

  it('is hidden of a URL whose query was hidden before', async () => {
    await create({ url: new URL(`${path}?code=canary`, receiver.url).href })
    await node.holdfast.endpoints.update(name, { config: { secretPath: true } })
    expect((await node.holdfast.endpoints.get(name)).config).toHaveProperty('url', shown())
    expect((await arrive()).path).toBe(`${path}?code=canary`)
  })

  it('can not be shown again without the URL, and can with it', async () => {
    await createHidden()
    await expect(
      node.holdfast.endpoints.update(name, { config: { secretPath: false } }),
    ).rejects.toMatchObject({ message: expect.stringContaining('pass the whole URL') })
    await node.holdfast.endpoints.update(name, { config: { secretPath: false, url: `${receiver.url}/out` } })
    expect((await node.holdfast.endpoints.get(name)).config).toHaveProperty('url', `${receiver.url}/out`)
    expect(await storedFields()).toEqual(['signing.secret'])
  })

  it('can be compared', async () => {
    await createHidden()
    const url = new URL(path, receiver.url).href
    expect(await node.holdfast.endpoints.compareSecrets(name, { url })).toEqual({ url: 'same' })
    expect(await node.holdfast.endpoints.compareSecrets(name, { url: `${url}x` })).toEqual({
      url: 'different',
    })
  })

  it('can not be set in SQL, which has no key to encrypt it with', async () => {
    await createHidden()
    const inSql = (config: object) => rig.rows('select holdfast.update_endpoint($1, $2)', [name, { config }])
    await expect(inSql({ url: new URL('/other', receiver.url).href })).rejects.toThrow(
      'config.url is stored encrypted',
    )
    await expect(inSql({ secretPath: false })).rejects.toThrow(`config.secretPath can't be set in SQL`)
    expect((await arrive()).path).toBe(path)
  })

  it('is a secret of every alert channel for Slack', async () => {
    name = 'alerts.team'
    const { endpoint } = await node.holdfast.alertChannels.create({
      name: 'team',
      kind: 'slack',
      url: new URL(path, receiver.url).href,
    })
    expect(endpoint?.config).toMatchObject({ url: shown(), secretPath: true })
    await node.holdfast.alertChannels.test('team')
    await receiver.ledger.waitForRequest((request) => request.path === path)
    await rig.whenSettled(name)
    expectNoCanary(await everythingSeen())
  })

  it('is a secret of channels for Slack from before, after a migration', async () => {
    name = 'alerts.former'
    const config = { url: new URL('/former?code=canary', receiver.url).href, secretPath: false }
    await node.holdfast.alertChannels.create({ name: 'former', kind: 'slack', ...config })
    const migrate = async () =>
      rig.rows(
        await readFile(new URL('../../../src/sql/tables/0035-secret-paths.sql', import.meta.url), 'utf8'),
      )
    await migrate()
    expect((await node.holdfast.endpoints.get(name)).config).toMatchObject({ url: shown(), secretPath: true })
    await node.holdfast.endpoints.update(name, {
      config: { url: new URL('/plain', receiver.url).href, secretPath: false },
    })
    await rig.rows(`update holdfast_internal.endpoints set config = config || $2 where name = $1`, [
      name,
      { url: new URL(path, receiver.url).href },
    ])
    await migrate()
    expect((await node.holdfast.endpoints.get(name)).config).toMatchObject({ url: shown(), secretPath: true })
    expectNoCanary(await node.holdfast.endpoints.listHealth({ nameHas: name }))
    expect((await node.holdfast.secrets.reencrypt()).sealedEndpoints).toBeGreaterThanOrEqual(1)
    expectNoCanary(await everythingSeen())
    expect((await arrive()).path).toBe(path)
  })
})

describe('values from before they counted as secrets', () => {
  beforeEach(async () => {
    await create({ headers: {} })
    await rig.rows(
      `update holdfast_internal.endpoints set changed_xid = pg_current_xact_id(),
         config = config || jsonb_build_object('headers', '{"x-team": "canary-team"}'::jsonb, 'url', $2::text) where name = $1`,
      [name, `${receiver.url}/in?api_key=canary-key`],
    )
    await rig.rows(
      `select pg_notify('holdfast_lanes', id::text) from holdfast_internal.endpoints where name = $1`,
      [name],
    )
    await rig.heard(node)
  })

  it('are hidden at once, and go on being sent', async () => {
    const [listed] = (await node.holdfast.endpoints.list()).filter((each) => each.name === name)
    const seen = await node.holdfast.endpoints.get(name)
    expect(listed?.config).toEqual(seen.config)
    expect(seen.config).toMatchObject({
      url: `${receiver.url}/in?api_key=[hidden]`,
      headers: { 'x-team': { isSet: true } },
    })
    const request = await arrive()
    expect([request.path, request.headers['x-team']]).toEqual(['/hook/in?api_key=canary-key', 'canary-team'])
  })

  it('are encrypted by the next change, also when what was shown is sent back', async () => {
    const { config } = await node.holdfast.endpoints.get(name)
    await node.holdfast.endpoints.update(name, { config: config })
    expect(await storedFields()).toEqual(['headers.x-team', 'signing.secret', 'url'])
    expect(await everythingSeen()).not.toContain('canary')
    const request = await arrive()
    expect([request.path, request.headers['x-team']]).toEqual(['/hook/in?api_key=canary-key', 'canary-team'])
  })

  it('are encrypted all together by secrets.reencrypt', async () => {
    expect((await node.holdfast.secrets.reencrypt()).sealedEndpoints).toBeGreaterThanOrEqual(1)
    expect((await node.holdfast.secrets.reencrypt()).sealedEndpoints).toBe(0)
    expect(await everythingSeen()).not.toContain('canary')
    const request = await arrive()
    expect([request.path, request.headers['x-team']]).toEqual(['/hook/in?api_key=canary-key', 'canary-team'])
  })

  it('can be compared like the others', async () => {
    expect(
      await node.holdfast.endpoints.compareSecrets(name, { 'headers.x-team': 'canary-team', url: 'x' }),
    ).toEqual({
      'headers.x-team': 'same',
      url: 'different',
    })
  })
})

describe('a digest', () => {
  it('changes with its value, differs from place to place, and is of no use without the key', async () => {
    await create({ headers: { 'x-a': 'one', 'x-b': 'one' } })
    const digests = async () =>
      Object.fromEntries(
        (await node.holdfast.endpoints.secrets(name)).map(({ field, digest }) => [field, digest]),
      )
    const before = await digests()
    expect(before['headers.x-a']).not.toBe(before['headers.x-b'])
    await node.holdfast.endpoints.update(name, { tags: ['eu'] })
    expect(await digests()).toEqual(before)
    await node.holdfast.endpoints.update(name, {
      config: { headers: { 'x-a': 'two', 'x-b': { isSet: true } } },
    })
    const after = await digests()
    expect(after['headers.x-b']).toBe(before['headers.x-b'])
    expect(after['headers.x-a']).not.toBe(before['headers.x-a'])
    expect(
      await node.holdfast.endpoints.compareSecrets(name, {
        'headers.x-a': 'two',
        'headers.x-b': `digest:${before['headers.x-b']}`,
        'headers.x-c': 'two',
      }),
    ).toEqual({ 'headers.x-a': 'same', 'headers.x-b': 'same', 'headers.x-c': 'not_set' })
    expect(
      await node.holdfast.endpoints.compareSecrets(name, {
        'headers.x-a': `digest:${before['headers.x-a']}`,
      }),
    ).toEqual({
      'headers.x-a': 'different',
    })
    const blind = rig.client({ encryptionKey: newEncryptionKey() })
    expect(await blind.endpoints.compareSecrets(name, { 'headers.x-a': 'two' })).toEqual({
      'headers.x-a': 'unknown',
    })
    expect((await blind.endpoints.secrets(name)).map(({ digest }) => digest)).toEqual([null, null, null])
  })
})
