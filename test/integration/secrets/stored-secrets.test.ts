import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { newEncryptionKey } from '../../../src/secrets/keyring.ts'
import { Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

let rig: Rig
let receiver: HttpReceiver
let node: RunningNode
const encryptionKey = newEncryptionKey()

beforeAll(async () => {
  rig = await Rig.create()
  receiver = await HttpReceiver.start()
  node = await rig.start({ encryptionKey, limits: { beatMs: 100 } })
})
afterAll(async () => {
  await rig.stop()
  await receiver.stop()
})

const quickRetry = { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' } as const
let lastName = 0
const newName = () => `secret-${(lastName += 1)}`

async function create(config: object = {}) {
  const name = newName()
  const created = await node.holdfast.endpoints.create({
    name,
    retry: quickRetry,
    config: { url: receiver.url, ...config },
  })
  return { name, created }
}

/** Sends one message and returns the headers that it arrived with. */
async function arrive(name: string): Promise<Record<string, string>> {
  const { id } = await node.holdfast.send(name, { n: 1 })
  const request = await receiver.ledger.waitForRequest(({ webhookId }) => webhookId === id)
  return request.headers as Record<string, string>
}

const stored = (name: string) =>
  rig.rows<{ field: string; version: number; keyId: string }>(
    `select field, version, key_id as "keyId" from holdfast_internal.endpoint_secrets
     where lane_id = (select id from holdfast_internal.endpoints where name = $1) order by field, version`,
    [name],
  )

async function failure(work: Promise<unknown>): Promise<HoldfastError> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof HoldfastError)) throw new Error(`expected a HoldfastError, got ${String(error)}`)
  return error
}

describe('a secret', () => {
  it('is stored encrypted and apart from the config, and only said to be set', async () => {
    const { name } = await create({ auth: { type: 'basic', username: 'ada', password: 'canary-password' } })
    const seen = await node.holdfast.endpoints.get(name)
    expect(seen.config).toMatchObject({
      signing: { scheme: 'standard-webhooks', secret: { isSet: true } },
      auth: { type: 'basic', username: 'ada', password: { isSet: true } },
    })
    expect(seen.secrets.map(({ field }) => field)).toEqual(['auth.password', 'signing.secret'])
    const rows = await rig.rows<{ text: string; bytes: Buffer }>(
      `select endpoint::text as text, sealed as bytes from holdfast_internal.endpoints as endpoint
       join holdfast_internal.endpoint_secrets on lane_id = id where name = $1`,
      [name],
    )
    expect(rows).toHaveLength(2)
    for (const { text, bytes } of rows) {
      expect(text).not.toContain('canary')
      expect(bytes.includes('canary')).toBe(false)
    }
    expect((await arrive(name))['authorization']).toBe(
      `Basic ${Buffer.from('ada:canary-password').toString('base64')}`,
    )
  })

  it('is also a header that is not said to be plain', async () => {
    const { name, created } = await create({
      headers: { 'X-Shop-Token': 't-123456', 'x-shop': 'main' },
      plainHeaders: ['x-shop'],
    })
    expect(created.config).toHaveProperty('headers', { 'X-Shop-Token': { isSet: true }, 'x-shop': 'main' })
    expect(await arrive(name)).toMatchObject({ 'x-shop-token': 't-123456', 'x-shop': 'main' })
  })

  it('stays as it is when other settings change, also when the endpoint is written back as it was read', async () => {
    const { name } = await create({ auth: { type: 'bearer', token: 'first-token' } })
    const { config } = await node.holdfast.endpoints.get(name)
    const updated = await node.holdfast.endpoints.update(name, {
      limits: { concurrency: 2 },
      config: { ...config, timeoutMs: 5000 },
    })
    expect(updated.signingSecret).toBeUndefined()
    expect(updated.secrets).toHaveLength(2)
    await until(
      'the change to be seen',
      () => arrive(name),
      (headers) => headers['authorization'] === 'Bearer first-token',
    )
    expect(await stored(name)).toMatchObject([
      { field: 'auth.token', version: 1 },
      { field: 'signing.secret', version: 1 },
    ])
  })

  it('that is changed replaces the old one on the delivering node', async () => {
    const { name } = await create({ auth: { type: 'bearer', token: 'first-token' } })
    expect((await arrive(name))['authorization']).toBe('Bearer first-token')
    const { secrets } = await node.holdfast.endpoints.update(name, {
      config: { auth: { type: 'bearer', token: 'second-token' } },
    })
    expect(secrets.map(({ field }) => field)).toEqual(['auth.token', 'signing.secret'])
    await until(
      'the new token to be used',
      () => arrive(name),
      (headers) => headers['authorization'] === 'Bearer second-token',
    )
    expect(await stored(name)).toMatchObject([{ version: 2 }, { version: 1 }])
  })

  it('that is no longer needed is deleted, as are all secrets of a deleted endpoint', async () => {
    const { name } = await create({ auth: { type: 'bearer', token: 'first-token' } })
    await node.holdfast.endpoints.update(name, {
      config: { auth: { type: 'none' }, signing: { scheme: 'none' } },
    })
    expect(await stored(name)).toEqual([])
    const other = await create()
    const laneId = await rig.laneId(other.name)
    await node.holdfast.endpoints.delete(other.name)
    const left = await rig.value(
      'select count(*)::int from holdfast_internal.endpoint_secrets where lane_id = $1',
      [laneId],
    )
    expect(left).toBe(0)
  })

  it.each([
    ['a new endpoint', { auth: { type: 'bearer', token: { isSet: true } } }],
    ['a new endpoint that signs', { signing: { scheme: 'standard-webhooks', secret: { isSet: true } } }],
  ])('marked as set but not stored is rejected for %s', async (_, config) => {
    const error = await failure(create(config))
    expect(error.code).toBe('invalid_endpoint')
    expect(error.message).toContain('no secret is stored')
  })

  it('opens at its own place only: bytes that were copied elsewhere hold their lane', async () => {
    const { name } = await create({
      signing: { scheme: 'none' },
      auth: { type: 'bearer', token: 'my-own-token' },
    })
    const victim = await create({
      signing: { scheme: 'none' },
      auth: { type: 'bearer', token: 'other-token' },
    })
    await rig.rows(
      `update holdfast_internal.endpoint_secrets set sealed = (
         select sealed from holdfast_internal.endpoint_secrets where lane_id = (select id from holdfast_internal.endpoints where name = $1)
       ) where lane_id = (select id from holdfast_internal.endpoints where name = $2)`,
      [victim.name, name],
    )
    await rig.pause(node, name)
    await node.holdfast.send(name, {})
    await node.holdfast.endpoints.resume(name)
    const health = await until(
      'the lane to be held',
      () => node.holdfast.endpoints.health(name),
      ({ state }) => state === 'held',
    )
    expect(health.reason).toContain("can't be decrypted")
    expect(await rig.owed(name)).toBe(1)
  })
})

describe('the keyring', () => {
  it('is needed to store a secret; the refusal says how to make a key and stores nothing', async () => {
    const client = rig.client({ encryptionKey: null })
    const name = newName()
    const error = await failure(client.endpoints.create({ name, config: { url: receiver.url } }))
    expect(error.code).toBe('encryption_key_missing')
    expect(error.message).toContain('holdfast secrets new-key')
    expect((await failure(client.endpoints.get(name))).code).toBe('endpoint_not_found')
    const plain = { name, config: { url: receiver.url, signing: { scheme: 'none' } } } as const
    expect((await client.endpoints.create(plain)).secrets).toEqual([])
  })

  it('that is invalid is rejected without showing any of it', () => {
    const wrong = 'definitely-not-a-key'
    expect(() => rig.client({ encryptionKey: wrong })).toThrow(HoldfastError)
    expect(() => rig.client({ encryptionKey: wrong })).toThrow(/^(?!.*definitely)/)
  })

  it('without the right key holds the endpoint and loses nothing: a node with the key delivers', async () => {
    const other = await Rig.create()
    try {
      const keys = [newEncryptionKey(), newEncryptionKey()] as const
      const client = other.client({ encryptionKey: keys[0] })
      await client.endpoints.create({ name: 'crm', retry: quickRetry, config: { url: receiver.url } })
      const { id } = await client.send('crm', {})
      const blind = await other.start({ encryptionKey: keys[1], nodeName: 'blind' })
      const health = await until(
        'the lane to be held',
        () => client.endpoints.health('crm'),
        ({ state }) => state === 'held',
      )
      expect(health.reason).toMatch(/signing\.secret is encrypted with key \w{12}.*HOLDFAST_ENCRYPTION_KEY/)
      const refused = await failure(blind.holdfast.request('crm'))
      expect([refused.code, refused.message.includes('HOLDFAST_ENCRYPTION_KEY')]).toEqual([
        'endpoint_unavailable',
        true,
      ])
      expect((await blind.holdfast.secrets.status()).keys).toMatchObject([{ secrets: 1, isKnown: false }])
      await blind.holdfast.stop()
      expect(await other.owed('crm')).toBe(1)
      expect(await other.count('attempts')).toBe(0)
      await other.start({ encryptionKey: keys.join(',') })
      await receiver.ledger.waitForRequest(({ webhookId }) => webhookId === id)
      await until(
        'the hold to be cleared',
        () => client.endpoints.health('crm'),
        ({ state }) => state === 'active',
      )
    } finally {
      await other.stop()
    }
  })
})

describe('re-encrypting', () => {
  it('moves every secret to the first key while deliveries go on, in steps that can be stopped and resumed', async () => {
    const other = await Rig.create()
    try {
      const [oldKey, newKey] = [newEncryptionKey(), newEncryptionKey()]
      const before = other.client({ encryptionKey: oldKey })
      const count = 450
      const created = await Promise.all(
        Array.from({ length: count }, (_, index) =>
          before.endpoints.create({ name: `bulk-${index}`, config: { url: receiver.url } }),
        ),
      )
      expect(new Set(created.map(({ signingSecret }) => signingSecret)).size).toBe(count)
      const after = other.client({ encryptionKey: `${newKey},${oldKey}` })

      const stopping = new AbortController()
      const progress: number[] = []
      const first = await after.secrets.reencrypt({
        signal: stopping.signal,
        onProgress: ({ reencrypted }) => {
          progress.push(reencrypted)
          stopping.abort()
        },
      })
      expect(first).toMatchObject({ total: count, reencrypted: 200, isComplete: false })

      // Somebody rotates a secret with the old keyring meanwhile: it is neither lost nor overwritten.
      await before.endpoints.rotateSecret('bulk-440')
      const second = await after.secrets.reencrypt({
        onProgress: ({ reencrypted }) => progress.push(reencrypted),
      })
      expect(second).toMatchObject({ total: 251, reencrypted: 251, unreadable: 0, isComplete: true })
      expect(progress).toEqual([200, 200, 251])
      expect(await after.secrets.reencrypt()).toMatchObject({ total: 0, reencrypted: 0, isComplete: true })

      // The old key may go now.
      const node = await other.start({ encryptionKey: newKey })
      const { id } = await node.holdfast.send('bulk-7', {})
      await receiver.ledger.waitForRequest(({ webhookId }) => webhookId === id)
      const audited = await other.rows(
        `select detail from holdfast_internal.audit_log where action = 'secrets.reencrypted'`,
      )
      expect(audited).toMatchObject([{ detail: { reencrypted: 200 } }, { detail: { reencrypted: 251 } }])
    } finally {
      await other.stop()
    }
  })

  it('names what it can not read and continues with the rest', async () => {
    const other = await Rig.create()
    try {
      const [lostKey, oldKey, newKey] = [newEncryptionKey(), newEncryptionKey(), newEncryptionKey()]
      const config = { url: receiver.url }
      await other.client({ encryptionKey: lostKey }).endpoints.create({ name: 'lost', config })
      await other.client({ encryptionKey: oldKey }).endpoints.create({ name: 'kept', config })
      const result = await other.client({ encryptionKey: `${newKey},${oldKey}` }).secrets.reencrypt()
      expect(result).toMatchObject({
        reencrypted: 1,
        unreadable: 1,
        isComplete: false,
        unreadableSecrets: [{ endpoint: 'lost', field: 'signing.secret' }],
      })
    } finally {
      await other.stop()
    }
  })
})
