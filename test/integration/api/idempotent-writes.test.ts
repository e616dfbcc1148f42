import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { AnswerGate } from '../../support/api/answer-gate.ts'
import { ApiRig } from '../../support/api/api-rig.ts'

let rig: ApiRig
let gate: AnswerGate

beforeAll(async () => {
  rig = await ApiRig.create()
  gate = await AnswerGate.install(rig.database.pool)
  for (const name of ['crm', 'other']) {
    await rig.holdfast.endpoints.create({ name, config: { url: 'https://crm.example.com/hooks' } })
  }
})

afterEach(() => gate.open())

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
})

function replay(key: string, endpoint = 'crm') {
  return rig.call('POST', '/v1/replays', {
    body: { endpoint, from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
    headers: { 'idempotency-key': key },
  })
}

async function countReplays(): Promise<number> {
  const { rows } = await rig.database.pool.query<{ count: number }>(
    `select count(*)::int as count from holdfast_internal.operations where kind = 'replay'`,
  )
  return rows[0]!.count
}

test('a repeated request gets the first response, and a different body is rejected', async () => {
  const create = (name: string) =>
    rig.call('POST', '/v1/event-types', { body: { name }, headers: { 'idempotency-key': 'declare-it' } })
  const first = await create('invoice.paid')
  const second = await create('invoice.paid')
  expect([first.status, second.status]).toEqual([201, 201])
  expect(second.body).toEqual(first.body)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  const other = await create('invoice.sent')
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused'])
})

test('a body that differs only in a digit beyond the precision of JavaScript counts as different', async () => {
  expect((await rig.call('POST', '/v1/jobs', { body: { name: 'count' } })).status).toBe(201)
  const trigger = (payload: string) =>
    rig.call('POST', '/v1/jobs/count/trigger', {
      body: `{"payload":${payload}}`,
      headers: { 'idempotency-key': 'count-it' },
    })
  const first = await trigger('12345678901234567890')
  const same = await trigger('12345678901234567890')
  expect([first.status, same.status, same.body]).toEqual([202, 202, first.body])
  const other = await trigger('12345678901234567891')
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused'])
})

test('a connection lost before the response leaves no effect, and the repetition has one', async () => {
  const before = await countReplays()
  await gate.close()
  const dying = replay('dying')
  const backend = await gate.waiting()
  await rig.database.pool.query('select pg_terminate_backend($1)', [backend])
  expect([(await dying).status, (await dying).body.code]).toEqual([503, 'database_unavailable'])
  await gate.open()
  expect(await countReplays()).toBe(before)

  const second = await replay('dying')
  const third = await replay('dying')
  expect([second.status, third.status]).toEqual([202, 202])
  expect(second.headers.get('idempotency-replayed')).toBeNull()
  expect(third.headers.get('idempotency-replayed')).toBe('true')
  expect(third.body).toEqual(second.body)
  expect(await countReplays()).toBe(before + 1)
})

test('a key in use returns 409, and the first response afterwards', async () => {
  const before = await countReplays()
  await gate.close()
  const first = replay('busy')
  await gate.waiting()
  for (const endpoint of ['crm', 'crm', 'other']) {
    const { status, body } = await replay('busy', endpoint)
    expect([status, body.code]).toEqual([409, 'idempotency_in_flight'])
  }
  await gate.open()
  expect((await first).status).toBe(202)
  expect((await replay('busy')).body).toEqual((await first).body)
  expect(await countReplays()).toBe(before + 1)
})

test('of twenty concurrent requests with one idempotency key, one is executed', async () => {
  const before = await countReplays()
  const answers = await Promise.all(Array.from({ length: 20 }, () => replay('crowd')))
  const done = answers.filter(({ status }) => status === 202)
  expect(done.length).toBeGreaterThan(0)
  expect(new Set(done.map(({ body }) => body.id)).size).toBe(1)
  expect(answers.filter(({ status }) => status !== 202 && status !== 409)).toEqual([])
  expect(await countReplays()).toBe(before + 1)
})

test('a failed request can be repeated with the same key', async () => {
  const write = () =>
    rig.call('POST', '/v1/routes', {
      body: { name: 'late', eventType: 'late.*', endpoint: 'not-yet', filter: 'strict $.a == 1' },
      headers: { 'idempotency-key': 'late-route' },
    })
  expect((await write()).status).toBe(404)
  await rig.call('POST', '/v1/endpoints', {
    body: { name: 'not-yet', config: { url: 'https://x.example' } },
  })
  expect((await write()).status).toBe(201)
})

test('a key can be used for another request after a day', async () => {
  const before = await countReplays()
  await replay('yesterday')
  await rig.database.pool.query(
    `update holdfast_internal.api_results set expires_at = now() - interval '1 s' where key = 'yesterday'`,
  )
  const { status, headers } = await replay('yesterday', 'other')
  expect([status, headers.get('idempotency-replayed')]).toEqual([202, null])
  expect(await countReplays()).toBe(before + 2)
})

test('a write of several steps that fails in the middle stores nothing', async () => {
  const { status } = await rig.call('POST', '/v1/jobs', { body: { name: 'half-done', cron: 'whenever' } })
  expect(status).toBe(422)
  expect((await rig.call('GET', '/v1/jobs/half-done')).status).toBe(404)
})

test('a rejected write uses no database connection', async () => {
  let closed = 0
  rig.holdfast.database.pool.on('remove', () => {
    closed += 1
  })
  const refused = [
    ['/v1/endpoints/nobody/pause', undefined],
    ['/v1/routes', { name: 'x', eventType: 'x.*', endpoint: 'crm', filter: '$.a > > 1' }],
    ['/v1/endpoints', { name: 'crm', config: { url: 'https://crm.example.com' } }],
  ] as const
  for (const [path, body] of refused) {
    expect((await rig.call('POST', path, body === undefined ? {} : { body })).status).toBeGreaterThan(400)
  }
  expect(closed).toBe(0)
})

test('a filter that PostgreSQL rejects is reported with its position', async () => {
  const { status, body } = await rig.call('POST', '/v1/routes', {
    body: { name: 'bad', eventType: 'bad.*', endpoint: 'crm', filter: '$.a > > 1' },
    headers: { 'idempotency-key': 'bad-filter' },
  })
  expect([status, body.code]).toEqual([422, 'invalid_route'])
  expect(body.problems[0].message).toMatch(/syntax error.*at position 6/)
})

test('a channel whose endpoint has been deleted can be deleted', async () => {
  await rig.call('POST', '/v1/alert-channels', {
    body: { name: 'ops', kind: 'webhook', url: 'https://ops.example.com' },
  })
  await rig.holdfast.endpoints.delete('alerts.ops', { force: true })
  const { status } = await rig.call('DELETE', '/v1/alert-channels/ops')
  expect(status).toBe(204)
  expect((await rig.holdfast.alertChannels.list()).map(({ name }) => name)).not.toContain('ops')
})
