import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Authenticator } from '../../../src/api/access/authenticator.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { operations } from '../../../src/contract/operations.ts'
import { isAllowed, type Role, roles } from '../../../src/core/access/roles.ts'
import { ApiRig } from '../../support/api/api-rig.ts'

const everyOperation = Object.values(operations).flatMap(
  (group) => Object.values(group) as unknown as Operation[],
)

let rig: ApiRig
const keys = {} as Record<Role, string>

beforeAll(async () => {
  rig = await ApiRig.create()
  for (const role of roles) keys[role] = await rig.keyOf(role)
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
})

function pathOf({ path }: Operation): string {
  return path.replace(/\{\w+\}/g, 'nobody')
}

describe('every call', () => {
  test.each(everyOperation.map((operation) => [operation.id, operation] as const))(
    '%s is refused without a key, and with a key whose role may not',
    async (_id, operation) => {
      const without = await rig.call(operation.method, pathOf(operation), { key: null })
      expect([without.status, without.body.code]).toEqual([401, 'unauthenticated'])
      for (const role of roles) {
        const { status, body } = await rig.call(operation.method, pathOf(operation), { key: keys[role] })
        const { permission } = operation
        if (permission === 'any' || isAllowed(role, permission)) expect([401, 403]).not.toContain(status)
        else expect([role, status, body.code]).toEqual([role, 403, 'forbidden'])
      }
    },
  )

  test.each([
    '/',
    '/docs',
    '/openapi.json',
    '/metrics',
    '/v1/stream',
    '/v1/no-such-call',
    '/assets/../package.json',
  ])('%s returns nothing without a key', async (path) => {
    expect((await rig.call('GET', path, { key: null })).status).toBe(401)
  })
})

describe('keys', () => {
  test('only a hash is stored, and a key is shown once', async () => {
    const { body } = await rig.call('POST', '/v1/api-keys', { body: { name: 'shop', role: 'publisher' } })
    expect(body.key).toMatch(/^hf_[0-9a-f]{10}_/)
    const stored = await rig.database.pool.query(
      'select to_jsonb(k)::text as row from holdfast_internal.api_keys as k',
    )
    const secret = body.key.split('_').slice(2).join('_')
    for (const { row } of stored.rows) expect(row).not.toContain(secret)
    const listed = await rig.call('GET', '/v1/api-keys')
    expect(JSON.stringify(listed.body)).not.toContain(secret)
  })

  test('a revoked key stops working at once, an expired one too', async () => {
    const created = await rig.call('POST', '/v1/api-keys', { body: { name: 'short', role: 'viewer' } })
    expect((await rig.call('GET', '/v1/me', { key: created.body.key })).body.role).toBe('viewer')
    await rig.call('DELETE', `/v1/api-keys/${created.body.id}`)
    expect((await rig.call('GET', '/v1/me', { key: created.body.key })).status).toBe(401)
    const expiring = await rig.holdfast.apiKeys.create({
      name: 'expiring',
      role: 'viewer',
      expiresInMs: 60_000,
    })
    await rig.database.pool.query(`update holdfast_internal.api_keys set expires_at = now() where id = $1`, [
      expiring.id,
    ])
    expect((await rig.call('GET', '/v1/me', { key: expiring.key })).status).toBe(401)
  })

  test('record when they were last used', async () => {
    const created = await rig.holdfast.apiKeys.create({ name: 'used', role: 'viewer' })
    await rig.call('GET', '/v1/me', { key: created.key })
    await expect
      .poll(async () => (await rig.holdfast.apiKeys.list()).find(({ name }) => name === 'used')?.lastUsedAt)
      .toBeInstanceOf(Date)
  })

  test('the key of the environment works in addition to the stored ones', async () => {
    const adminKey = 'a key that somebody has put into the environment'
    const authenticator = new Authenticator({ database: () => rig.holdfast.database, adminKey })
    expect(await authenticator.byKey(adminKey, 'here')).toMatchObject({ role: 'admin' })
    await expect(authenticator.byKey(`${adminKey}!`, 'here')).rejects.toMatchObject({
      code: 'unauthenticated',
    })
  })

  describe('after ten wrong keys from an address', () => {
    const nowMs = { value: 0 }
    let authenticator: Authenticator
    beforeEach(async () => {
      const database = () => rig.holdfast.database
      authenticator = new Authenticator({ database, adminKey: null, nowMs: () => nowMs.value })
      for (let wrong = 0; wrong < 10; wrong += 1) {
        await expect(authenticator.byKey('wrong', 'there')).rejects.toMatchObject({ code: 'unauthenticated' })
      }
    })

    test('a wrong key has to wait', async () => {
      await expect(authenticator.byKey('wrong', 'there')).rejects.toMatchObject({
        code: 'too_many_attempts',
        details: { retryAfterMs: 60_000 },
      })
      await expect(authenticator.byKey('wrong', 'elsewhere')).rejects.toMatchObject({
        code: 'unauthenticated',
      })
      nowMs.value += 60_001
      await expect(authenticator.byKey('wrong', 'there')).rejects.toMatchObject({ code: 'unauthenticated' })
    })

    test('a valid key is accepted even if this node has not seen it before', async () => {
      const { key } = await rig.holdfast.apiKeys.create({ name: `patient ${Math.random()}`, role: 'admin' })
      expect(await authenticator.byKey(key, 'there')).toMatchObject({ role: 'admin' })
    })

    test('a wrong secret of a stored key must wait, and does not block the valid one', async () => {
      const { key } = await rig.holdfast.apiKeys.create({ name: `guessed ${Math.random()}`, role: 'admin' })
      const guess = `${key.slice(0, -4)}AAAA`
      await expect(authenticator.byKey(guess, 'there')).rejects.toMatchObject({ code: 'too_many_attempts' })
      expect(await authenticator.byKey(key, 'there')).toMatchObject({ role: 'admin' })
      await expect(authenticator.byKey(guess, 'there')).rejects.toMatchObject({ code: 'too_many_attempts' })
    })
  })

  test('behind a trusted proxy each caller is counted by its own address', async () => {
    await using proxied = await ApiRig.create({ trustedProxies: ['127.0.0.1'] })
    const wrong = async (forwardedFor: string) =>
      (
        await proxied.call('GET', '/v1/endpoints', {
          key: 'wrong',
          headers: { 'x-forwarded-for': forwardedFor },
        })
      ).status
    for (let n = 0; n < 10; n += 1) expect(await wrong(`192.0.2.${n}, 203.0.113.1`)).toBe(401)
    expect(await wrong('192.0.2.77, 203.0.113.1')).toBe(429)
    expect(await wrong('203.0.113.2')).toBe(401)
  })

  test('without a trusted proxy no caller can fake its address', async () => {
    await using direct = await ApiRig.create()
    const wrong = async (forwardedFor: string) =>
      (
        await direct.call('GET', '/v1/endpoints', {
          key: 'wrong',
          headers: { 'x-forwarded-for': forwardedFor },
        })
      ).status
    for (let n = 0; n < 10; n += 1) expect(await wrong(`203.0.113.${n}`)).toBe(401)
    expect(await wrong('203.0.113.99')).toBe(429)
  })
})

describe('signing in', () => {
  async function signIn(body: object): Promise<{ cookie: string; csrfToken: string; raw: string }> {
    const answer = await rig.call('POST', '/session', { key: null, body })
    expect(answer.status).toBe(200)
    const raw = answer.headers.get('set-cookie') ?? ''
    return { raw, cookie: raw.split(';', 1)[0] ?? '', csrfToken: answer.body.csrfToken }
  }

  test('a key gives a cookie that scripts and other sites cannot use', async () => {
    const { raw, cookie } = await signIn({ key: keys.viewer })
    expect(raw).toMatch(/HttpOnly/)
    expect(raw).toMatch(/SameSite=Strict/)
    expect((await rig.call('GET', '/v1/me', { key: null, headers: { cookie } })).body.role).toBe('viewer')
  })

  test('a change by cookie needs the token that only our pages can read', async () => {
    const { cookie, csrfToken } = await signIn({ key: keys.admin })
    const write = (headers: Record<string, string>) =>
      rig.call('POST', '/v1/event-types', {
        key: null,
        body: { name: 'by.cookie' },
        headers: { cookie, ...headers },
      })
    expect((await write({})).body.code).toBe('csrf_failed')
    expect((await write({ 'x-csrf-token': 'x'.repeat(csrfToken.length) })).body.code).toBe('csrf_failed')
    expect((await write({ 'x-csrf-token': csrfToken })).status).toBe(201)
  })

  test('a link signs in once', async () => {
    const token = await rig.authenticator.createSignInToken()
    const { cookie } = await signIn({ token })
    expect((await rig.call('GET', '/v1/me', { key: null, headers: { cookie } })).body.role).toBe('admin')
    expect((await rig.call('POST', '/session', { key: null, body: { token } })).status).toBe(401)
  })

  test('signing out ends the session, and so does revoking its key', async () => {
    const first = await signIn({ key: keys.admin })
    await rig.call('DELETE', '/session', {
      key: null,
      headers: { cookie: first.cookie, 'x-csrf-token': first.csrfToken },
    })
    expect((await rig.call('GET', '/v1/me', { key: null, headers: { cookie: first.cookie } })).status).toBe(
      401,
    )
    const key = await rig.holdfast.apiKeys.create({ name: 'leaver', role: 'viewer' })
    const second = await signIn({ key: key.key })
    await rig.call('DELETE', `/v1/api-keys/${key.id}`)
    expect((await rig.call('GET', '/v1/me', { key: null, headers: { cookie: second.cookie } })).status).toBe(
      401,
    )
  })

  test('a browser without a session is redirected to the sign-in page', async () => {
    // Relative, so that it holds under whatever prefix a proxy serves it.
    for (const [path, location] of [
      ['/', './sign-in'],
      ['/events?type=a', './sign-in?to=events%3Ftype%3Da'],
      ['/endpoints/crm', '../sign-in?to=endpoints%2Fcrm'],
    ] as const) {
      const answer = await rig.call('GET', path, { key: null, headers: { accept: 'text/html' } })
      expect([answer.status, answer.headers.get('location')]).toEqual([302, location])
    }
  })
})

describe('the audit log', () => {
  test('says who changed what, before and after, without what is secret', async () => {
    await rig.call('POST', '/v1/endpoints', {
      body: {
        name: 'audited',
        config: { url: 'https://a.example', headers: { 'x-partner': 'canary-header' } },
      },
    })
    await rig.call('PATCH', '/v1/endpoints/audited', { body: { limits: { concurrency: 3 } } })
    await rig.call('DELETE', '/v1/endpoints/audited')
    const { body } = await rig.call('GET', '/v1/audit?subject=endpoint:audited')
    expect(body.data.map(({ action }: { action: string }) => action)).toEqual([
      'endpoint.deleted',
      'endpoint.updated',
      'endpoint.created',
    ])
    const updated = body.data[1]
    expect(updated.actor).toMatch(/^key:admin-/)
    expect(updated.detail.before.settings.limits.concurrency).toBe(64)
    expect(updated.detail.after.settings.limits.concurrency).toBe(3)
    expect(Object.keys(updated.detail.after)).toEqual(['settings'])
    expect(JSON.stringify(body)).not.toContain('canary-header')
  })
})

test('every answer carries the headers that keep browsers in check', async () => {
  for (const path of ['/livez', '/sign-in', '/v1/me']) {
    const { headers } = await rig.call('GET', path)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cache-control')).toBe('no-store')
  }
})
