import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Authenticator } from '../../../src/api/access/authenticator.ts'
import type { Caller } from '../../../src/api/access/caller.ts'
import { maxStreamsPerKey, maxStreamsPerSession, OpenStreams } from '../../../src/api/stream/open-streams.ts'
import { silentLogger } from '../../../src/engine/logger.ts'
import type { Statement } from '../../../src/storage/database.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
})

interface Stream {
  readonly status: number
  hasEnded: boolean
  close(): void
}

async function open(headers: Record<string, string>): Promise<Stream> {
  const abort = new AbortController()
  const response = await fetch(`${rig.server.url}/v1/stream`, { headers, signal: abort.signal })
  const stream = { status: response.status, hasEnded: false, close: () => abort.abort() }
  const read = async () => {
    for await (const _ of response.body ?? []);
    stream.hasEnded = true
  }
  read().catch(() => {})
  return stream
}

const byKey = (key: string) => ({ authorization: `Bearer ${key}` })
const keyId = (key: string) => key.split('_')[1] ?? ''

async function signIn(key: string): Promise<{ cookie: string }> {
  const { headers, status } = await rig.call('POST', '/session', { key: null, body: { key } })
  expect(status).toBe(200)
  return { cookie: (headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '' }
}

const ended = (stream: Stream) => until('the stream to end', () => stream.hasEnded)

describe('a stream ends', () => {
  test('at once when its key is revoked here, and not those of others', async () => {
    const [key, other] = [await rig.keyOf('viewer'), await rig.keyOf('viewer')]
    const [stream, session, stays] = [
      await open(byKey(key)),
      await open(await signIn(key)),
      await open(byKey(other)),
    ]
    await rig.call('DELETE', `/v1/api-keys/${keyId(key)}`)
    await Promise.all([ended(stream), ended(session)])
    expect(stays.hasEnded).toBe(false)
    stays.close()
  })

  test('within seconds when its key is revoked elsewhere or expires, or its session ends', async () => {
    const [revoked, expiring, own] = [
      await rig.keyOf('viewer'),
      await rig.keyOf('viewer'),
      await rig.keyOf('viewer'),
    ]
    const streams = [await open(byKey(revoked)), await open(byKey(expiring)), await open(await signIn(own))]
    const stays = await open(byKey(own))
    await rig.database.pool.query('update holdfast_internal.api_keys set revoked_at = now() where id = $1', [
      keyId(revoked),
    ])
    await rig.database.pool.query('update holdfast_internal.api_keys set expires_at = now() where id = $1', [
      keyId(expiring),
    ])
    await rig.database.pool.query('delete from holdfast_internal.api_sessions where key_id = $1', [
      keyId(own),
    ])
    await Promise.all(streams.map(ended))
    expect(stays.hasEnded).toBe(false)
    stays.close()
  })

  test('when its session signs out', async () => {
    const cookie = await signIn(await rig.keyOf('viewer'))
    const { body } = await rig.call('GET', '/session', { key: null, headers: cookie })
    const stream = await open(cookie)
    await rig.call('DELETE', '/session', {
      key: null,
      headers: { ...cookie, 'x-csrf-token': body.csrfToken },
    })
    await ended(stream)
  })
})

describe('slots of streams', () => {
  test('are limited per key, including its sessions, so that other keys can still open some', async () => {
    const key = await rig.keyOf('viewer')
    const sessions = [await signIn(key), await signIn(key)]
    const streams: Stream[] = []
    for (const session of sessions) {
      for (let taken = 0; taken < maxStreamsPerSession; taken += 1) streams.push(await open(session))
      expect((await open(session)).status).toBe(503)
    }
    while (streams.length < maxStreamsPerKey) streams.push(await open(byKey(key)))
    expect(streams.every(({ status }) => status === 200)).toBe(true)
    expect((await open(byKey(key))).status).toBe(503)
    expect((await open(await signIn(key))).status).toBe(503)
    const other = await open(byKey(await rig.keyOf('viewer')))
    expect(other.status).toBe(200)
    streams[0]?.close()
    await until('a slot to be free', async () => {
      const again = await open(byKey(key))
      again.close()
      return again.status === 200
    })
    for (const stream of [...streams, other]) stream.close()
  })
})

describe('a session that began with the configured admin key', () => {
  const node = (adminKey: string | null) =>
    new Authenticator({ database: () => rig.holdfast.database, adminKey })

  test('continues on every node that has the key, and ends where it was removed or changed', async () => {
    const token = await node('the-first-admin-key').signIn('the-first-admin-key', '127.0.0.1')
    expect(await node('the-first-admin-key').bySession(token)).toMatchObject({ name: 'admin', role: 'admin' })
    expect(await node('another-admin-key').bySession(token)).toBeNull()
    expect(await node(null).bySession(token)).toBeNull()
  })

  test('shares the slots of streams of that key', async () => {
    const authenticator = node('the-first-admin-key')
    const streams = new OpenStreams({ authenticator, logger: silentLogger })
    const byItself = await authenticator.byKey('the-first-admin-key', '127.0.0.1')
    const token = await authenticator.signIn('the-first-admin-key', '127.0.0.1')
    const bySession = await authenticator.bySession(token)
    const add = (caller: Caller) => streams.add(new Writable() as unknown as ServerResponse, caller)
    for (let taken = 0; taken < maxStreamsPerKey; taken += 1) add(byItself)
    expect(() => add(bySession!)).toThrow(`already has ${maxStreamsPerKey} open streams`)
    streams.endAll()
  })

  test('stores nothing in the database from which the key can be guessed', async () => {
    const token = await node('hunter2').signIn('hunter2', '127.0.0.1')
    const other = await node('hunter2').signIn('hunter2', '127.0.0.1')
    const { rows } = await rig.database.pool.query<{ proof: string }>(
      `select encode(key_proof, 'hex') as proof from holdfast_internal.api_sessions where key_proof is not null`,
    )
    // The same key shows itself differently in each session.
    expect(new Set(rows.map(({ proof }) => proof)).size).toBe(rows.length)
    expect(token).not.toBe(other)
  })

  test('cannot be created by a row that has the name but no proof', async () => {
    const token = await node('the-first-admin-key').signIn('the-first-admin-key', '127.0.0.1')
    await rig.database.pool.query(
      'update holdfast_internal.api_sessions set key_proof = null where key_id is null',
    )
    expect(await node('the-first-admin-key').bySession(token)).toBeNull()
  })
})

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

describe('a read that overlaps', () => {
  /** An authenticator whose reads of this statement have their rows, and wait with them until `release`. */
  function slowReader(statementName: string) {
    const { promise: hasRead, resolve: tellRead } = signal()
    const { promise: released, resolve: release } = signal()
    const slow = new Proxy(rig.holdfast.database, {
      get(database, property) {
        if (property !== 'query') return Reflect.get(database, property)
        return async (statement: Statement, values: readonly unknown[]) => {
          const rows = await database.query(statement, values)
          if (statement.name === statementName) {
            tellRead()
            await released
          }
          return rows
        }
      },
    })
    const authenticator = new Authenticator({ database: () => slow, adminKey: null })
    return { authenticator, hasRead, release }
  }

  test('a sign-out does not keep the session valid', async () => {
    const token = await rig.authenticator.signIn(await rig.keyOf('viewer'), '127.0.0.1')
    const { authenticator, hasRead, release } = slowReader('read_session')
    const overlapping = authenticator.bySession(token)
    await hasRead
    await authenticator.signOut(token)
    release()
    expect(await overlapping).not.toBeNull()
    expect(await authenticator.bySession(token)).toBeNull()
  })

  test('the end of all sessions does not keep the session valid', async () => {
    const token = await rig.authenticator.signIn(await rig.keyOf('viewer'), '127.0.0.1')
    const { authenticator, hasRead, release } = slowReader('read_session')
    const overlapping = authenticator.bySession(token)
    await hasRead
    await rig.call('DELETE', '/v1/sessions')
    authenticator.forgetSessions()
    release()
    await overlapping
    expect(await authenticator.bySession(token)).toBeNull()
  })

  test('the revocation of a key does not keep the key valid', async () => {
    const key = await rig.keyOf('viewer')
    const { authenticator, hasRead, release } = slowReader('read_live_key')
    const overlapping = authenticator.byKey(key, '127.0.0.1')
    await hasRead
    await rig.call('DELETE', `/v1/api-keys/${keyId(key)}`)
    authenticator.forgetKey(keyId(key))
    release()
    await overlapping
    await expect(authenticator.byKey(key, '127.0.0.1')).rejects.toThrow('revoked')
  })
})

describe('ending all sessions', () => {
  test('ends all sessions, their streams and unused links, and is audited', async () => {
    const [one, two] = [await signIn(await rig.keyOf('viewer')), await signIn(await rig.keyOf('admin'))]
    const link = await rig.authenticator.createSignInToken()
    const stream = await open(one)
    const { status, body } = await rig.call('DELETE', '/v1/sessions')
    expect(status).toBe(200)
    expect(body.ended).toBeGreaterThanOrEqual(2)
    await ended(stream)
    for (const cookie of [one, two]) {
      expect((await rig.call('GET', '/v1/me', { key: null, headers: cookie })).status).toBe(401)
    }
    expect((await rig.call('POST', '/session', { key: null, body: { token: link } })).status).toBe(401)
    const audit = await rig.call('GET', '/v1/audit?action=sessions.ended')
    expect(audit.body.data[0]).toMatchObject({ subject: 'sessions', detail: { count: body.ended } })
  })

  test('of one key keeps the sessions of other keys', async () => {
    const [key, other] = [await rig.keyOf('viewer'), await rig.keyOf('viewer')]
    const [gone, stays] = [await signIn(key), await signIn(other)]
    expect((await rig.call('DELETE', `/v1/sessions?keyId=${keyId(key)}`)).body).toEqual({ ended: 1 })
    expect((await rig.call('GET', '/v1/me', { key: null, headers: gone })).status).toBe(401)
    expect((await rig.call('GET', '/v1/me', { key: null, headers: stays })).status).toBe(200)
  })
})
