import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loopbackNetworks } from '../../../src/network/network-rules.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

let rig: ApiRig
let receiver: HttpReceiver

beforeAll(async () => {
  receiver = await HttpReceiver.start()
  rig = await ApiRig.create({ allowNetworks: loopbackNetworks })
  await rig.holdfast.endpoints.create({
    name: 'crm',
    config: { url: `${receiver.url}/api` },
  })
  await rig.call('POST', '/v1/jobs', { body: { name: 'nightly', queue: 'reports', cron: '0 3 * * *' } })
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
  await receiver.stop()
})

interface Entry {
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly detail: Record<string, unknown>
}

async function entries(since: number): Promise<Entry[]> {
  const { rows } = await rig.database.pool.query<Entry>(
    'select actor, action, subject, detail from holdfast_internal.audit_log where id > $1 order by id',
    [since],
  )
  return rows
}

async function latest(): Promise<number> {
  const { rows } = await rig.database.pool.query(
    'select coalesce(max(id), 0)::int as id from holdfast_internal.audit_log',
  )
  return rows[0].id
}

describe('a synchronous call', () => {
  test('needs a permission of its own, which publishers and viewers lack', async () => {
    for (const role of ['viewer', 'publisher'] as const) {
      const { status, body } = await rig.call('POST', '/v1/endpoints/crm/request', {
        key: await rig.keyOf(role),
        body: {},
      })
      expect([role, status, body.code]).toEqual([role, 403, 'forbidden'])
      expect(body.detail).toContain('caller, operator, admin')
    }
    for (const role of ['caller', 'operator', 'admin'] as const) {
      const { status } = await rig.call('POST', '/v1/endpoints/crm/request', {
        key: await rig.keyOf(role),
        body: {},
      })
      expect([role, status]).toEqual([role, 200])
    }
    const caller = await rig.keyOf('caller')
    expect((await rig.call('GET', '/v1/endpoints', { key: caller })).status).toBe(403)
    expect(
      (await rig.call('POST', '/v1/events', { key: caller, body: { type: 'a.b', payload: 1 } })).status,
    ).toBe(202)
  })

  test.each([
    '../admin',
    '/..',
    '%2e%2e/admin',
    '%252e%252e/admin',
    '..%5cadmin',
    '..\\admin',
    '//evil.example',
    'https://evil.example/x',
    '..;/admin',
  ])('stays below the endpoint’s URL: %s is refused, and nothing is sent', async (path) => {
    const before = receiver.ledger.count
    const { status, body } = await rig.call('POST', '/v1/endpoints/crm/request', { body: { path } })
    expect([status, body.problems[0].path]).toEqual([422, 'path'])
    await expect(rig.holdfast.request('crm', { path })).rejects.toMatchObject({ code: 'invalid_request' })
    expect(receiver.ledger.count).toBe(before)
  })

  test('is in the audit log with actor, endpoint and outcome, without its query and payload', async () => {
    const before = await latest()
    await rig.call('POST', '/v1/endpoints/crm/request', {
      body: { path: 'customers/7?token=s3cret', method: 'PUT', payload: { card: '4111' } },
    })
    expect(receiver.ledger.requests.at(-1)).toMatchObject({
      method: 'PUT',
      path: '/hook/api/customers/7?token=s3cret',
    })
    const [entry, ...more] = await entries(before)
    expect(more).toEqual([])
    expect(entry).toMatchObject({
      actor: expect.stringMatching(/^key:admin-/),
      action: 'endpoint.called',
      subject: 'endpoint:crm',
      detail: { method: 'PUT', path: 'customers/7', status: 200, attempts: 1 },
    })
    expect(JSON.stringify(entry)).not.toMatch(/s3cret|4111/)
  })

  test('that was sent is audited, and answered with its result, if its retry meets an open circuit or a pause', async () => {
    await using failing = await HttpReceiver.start({ behaviour: answer(500) })
    const call = (name: string) => rig.call('POST', `/v1/endpoints/${name}/request`, { body: {} })
    const sent = { ok: false, status: 500, attempts: 1 }
    const settings = {
      config: { url: failing.url },
      request: { baseDelayMs: 100, retryOn: [500], jitter: 'none' },
    } as const
    const circuit = { threshold: 1, cooldownMs: 3_600_000 }
    await rig.holdfast.endpoints.create({ name: 'opening', circuit, ...settings })
    const before = await latest()
    expect(await call('opening')).toMatchObject({ status: 200, body: sent })
    expect(await call('opening')).toMatchObject({ status: 503, body: { code: 'circuit_open' } })

    await rig.holdfast.endpoints.create({ name: 'pausing', ...settings })
    failing.behave((request, response) => {
      void rig.holdfast.endpoints.pause('pausing').then(() => answer(500)(request, response))
    })
    expect(await call('pausing')).toMatchObject({ status: 200, body: sent })
    expect(failing.ledger.count).toBe(2)
    expect((await entries(before)).filter(({ action }) => action === 'endpoint.called')).toMatchObject([
      { subject: 'endpoint:opening', detail: { status: 500, attempts: 1 } },
      { subject: 'endpoint:pausing', detail: { status: 500, attempts: 1 } },
    ])
  })

  test('is audited for the SDK too', async () => {
    const before = await latest()
    await rig.holdfast.request('crm', {})
    expect(await entries(before)).toMatchObject([{ actor: 'test', action: 'endpoint.called' }])
  })
})

describe('signing in', () => {
  test('is in the audit log, with what and from where, and so is signing out', async () => {
    const key = await rig.keyOf('viewer')
    const before = await latest()
    const { headers, body } = await rig.call('POST', '/session', { key: null, body: { key } })
    const cookie = (headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
    await rig.call('DELETE', '/session', { key: null, headers: { cookie, 'x-csrf-token': body.csrfToken } })
    expect(await entries(before)).toMatchObject([
      {
        action: 'session.began',
        detail: { by: 'key', key: key.split('_')[1], role: 'viewer', address: '127.0.0.1' },
      },
      { action: 'session.ended' },
    ])
    const link = await rig.authenticator.createSignInToken()
    await rig.call('POST', '/session', { key: null, body: { token: link } })
    expect((await entries(before)).at(-1)).toMatchObject({
      action: 'session.began',
      detail: { by: 'link', role: 'admin' },
    })
  })
})

describe('refused keys', () => {
  test('are audited at once, and many of them in one entry', async () => {
    const before = await latest()
    const wrong = (index: number) => `hf_${String(index).padStart(10, '0')}_${'x'.repeat(43)}`
    for (let index = 0; index < 40; index += 1) {
      const { status } = await rig.call('GET', '/v1/me', { key: wrong(index) })
      expect([401, 429]).toContain(status)
    }
    const [entry, ...more] = await until(
      'the first refusal',
      () => entries(before),
      (written) => written.length > 0,
    )
    expect(more).toEqual([])
    expect(entry).toMatchObject({
      actor: 'anonymous',
      action: 'api_key.refused',
      detail: { count: 1, addresses: ['127.0.0.1'], keys: ['0000000000'] },
    })
  })
})

describe('a reason', () => {
  const reason = 'HF-2210: the receiver moved.'

  test.each([
    ['POST', '/v1/endpoints/crm/pause', { reason }, 'endpoint.paused'],
    ['POST', '/v1/endpoints/crm/resume', { reason }, 'endpoint.active'],
    ['POST', '/v1/endpoints/crm/disable', { reason }, 'endpoint.disabled'],
    ['POST', '/v1/endpoints/crm/enable', { reason }, 'endpoint.active'],
    ['POST', '/v1/endpoints/crm/reset-circuit', { reason }, 'circuit.reset'],
    ['POST', '/v1/endpoints/crm/rotate-secret', { reason }, 'endpoint.secret_rotated'],
    ['PATCH', '/v1/endpoints/crm', { reason, contact: 'crm@example.com' }, 'endpoint.updated'],
    ['POST', '/v1/routes', { name: 'to-crm', eventType: 'a.b', endpoint: 'crm' }, 'route.created'],
    ['PATCH', '/v1/routes/to-crm', { reason, enabled: false }, 'route.updated'],
    ['DELETE', `/v1/routes/to-crm?reason=${encodeURIComponent(reason)}`, undefined, 'route.deleted'],
    ['PUT', '/v1/event-types/a.b', { reason, criticality: 'critical' }, 'event_type.written'],
    ['DELETE', `/v1/event-types/a.b?reason=${encodeURIComponent(reason)}`, undefined, 'event_type.deleted'],
    ['POST', '/v1/jobs/nightly/pause', { reason }, 'job.paused'],
    ['POST', '/v1/jobs/nightly/enable', { reason }, 'job.active'],
    ['POST', '/v1/schedules/nightly/pause', { reason }, 'schedule.paused'],
    ['POST', '/v1/schedules/nightly/resume', { reason }, 'schedule.resumed'],
    ['POST', '/v1/queues/reports/pause', { reason }, 'queue.paused'],
    ['POST', '/v1/queues/reports/resume', { reason }, 'queue.active'],
    ['PUT', '/v1/queues/reports', { reason, concurrency: 5 }, 'queue.updated'],
    ['PATCH', '/v1/settings', { reason, rejecting_threshold: 30 }, 'setting.updated'],
    ['PUT', '/v1/alert-rules/many', { reason, kind: 'dead_letters', threshold: 9 }, 'alert_rule.written'],
    ['DELETE', `/v1/alert-rules/many?reason=${encodeURIComponent(reason)}`, undefined, 'alert_rule.deleted'],
  ])('given for %s %s is stored with its audit entry and no other', async (method, path, body, action) => {
    const before = await latest()
    const { status, text } = await rig.call(method, path, body === undefined ? {} : { body })
    expect([status < 300, text]).toEqual([true, text])
    const given = body === undefined || 'reason' in body ? reason : undefined
    expect((await entries(before)).map(({ action: done, detail }) => [done, detail['reason']])).toEqual([
      [action, given],
    ])
  })

  test.each([
    ['POST', '/v1/endpoints/crm/test', undefined, 'endpoint:crm', 'endpoint.tested'],
    ['POST', '/v1/queues/reports/pause', {}, 'queue:reports', 'queue.paused'],
    ['POST', '/v1/queues/reports/resume', {}, 'queue:reports', 'queue.active'],
    ['PUT', '/v1/queues/reports', { concurrency: 5 }, 'queue:reports', 'queue.updated'],
  ])('%s %s is found by the name of its subject', async (method, path, body, subject, action) => {
    await rig.call(method, path, body === undefined ? {} : { body })
    const found = await rig.call('GET', `/v1/audit?limit=1&subject=${encodeURIComponent(subject)}`)
    expect(found.body).toMatchObject({ data: [{ action, subject }] })
  })

  test('for resuming replaces the reason of the previous state', async () => {
    await rig.call('POST', '/v1/endpoints/crm/pause', { body: { reason: 'Stock count.' } })
    const { body } = await rig.call('POST', '/v1/endpoints/crm/resume', { body: { reason } })
    expect(body).toMatchObject({ state: 'active', reason: null })
    await rig.call('POST', '/v1/queues/reports/pause', { body: { reason: 'Stock count.' } })
    await rig.call('POST', '/v1/queues/reports/resume', { body: { reason } })
    const queue = await rig.call('GET', '/v1/queues/reports')
    expect(queue.body).toMatchObject({ state: 'active', stateReason: null })
  })

  test("of a queue is found by the queue's name", async () => {
    const { body } = await rig.call('GET', '/v1/audit?subject=queue:reports')
    expect(body.data.map(({ action }: Entry) => action)).toContain('queue.paused')
  })

  test('given for a transaction in SQL is used for that transaction only', async () => {
    const before = await latest()
    const client = await rig.database.pool.connect()
    try {
      await client.query(
        `begin; set local holdfast.reason = 'By hand.'; select holdfast.reset_circuit_breaker('crm'); commit`,
      )
      await client.query(`select holdfast.reset_circuit_breaker('crm')`)
    } finally {
      client.release()
    }
    expect((await entries(before)).map(({ detail }) => detail['reason'])).toEqual(['By hand.', undefined])
  })
})
