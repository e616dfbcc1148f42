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
