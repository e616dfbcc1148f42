import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'

let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
})

test('an HTTP endpoint is shown with the defaults of its config', async () => {
  const body = { name: 'crm', config: { url: 'https://crm.example/hooks' } }
  expect((await rig.call('POST', '/v1/endpoints', { body })).status).toBe(201)
  const { config } = (await rig.call('GET', '/v1/endpoints/crm')).body
  expect(config).toMatchObject({
    url: 'https://crm.example/hooks',
    method: 'POST',
    headers: {},
    plainHeaders: [],
    secretPath: false,
    timeoutMs: 10_000,
    signing: { scheme: 'standard-webhooks' },
    auth: { type: 'none' },
    capture: 'errors',
    maxResponseBytes: 65_536,
  })
  const changed = await rig.call('PATCH', '/v1/endpoints/crm', { body: { config } })
  expect([changed.status, changed.body.config]).toEqual([200, config])
})

test('an endpoint of RabbitMQ takes and shows the fields of its config', async () => {
  const given = { url: 'amqps://rabbit.example', exchange: 'events', routingKey: 'order.{{ id }}' }
  const plain = await rig.call('POST', '/v1/endpoints', {
    body: { name: 'plain', transport: 'amqp', config: given },
  })
  expect(plain.body.config).toMatchObject({
    ...given,
    mandatory: true,
    persistent: true,
    headers: {},
    properties: {},
    confirmTimeoutMs: 10_000,
    cloudEvents: 'none',
  })
  const chosen = { ...given, confirmTimeoutMs: 2000, cloudEvents: 'binary', mandatory: false }
  const other = await rig.call('POST', '/v1/endpoints', {
    body: { name: 'other', transport: 'amqp', config: chosen },
  })
  expect(other.body.config).toMatchObject(chosen)
})

test('a job takes the worker that executes its runs', async () => {
  const created = await rig.call('POST', '/v1/jobs', { body: { name: 'reindex', worker: 'disk-1' } })
  expect([created.status, created.body.worker]).toEqual([201, 'disk-1'])
  const run = await rig.call('POST', '/v1/jobs/reindex/trigger', { body: {} })
  expect((await rig.call('GET', `/v1/runs/${run.body.id}`)).body.target).toBe('worker:disk-1')
  const changed = await rig.call('PATCH', '/v1/jobs/reindex', { body: { worker: null } })
  expect([changed.status, changed.body.worker]).toEqual([200, undefined])
})

test('dead letters that match a filter are discarded without a reason', async () => {
  const { status, body } = await rig.call('POST', '/v1/dead-letters/discard', {
    body: { filter: { endpoint: 'crm' } },
  })
  expect([status, body.kind]).toEqual([202, 'discard'])
})

test.each(['alert-rules', 'settings'])('%s are listed in pages', async (path) => {
  const whole = await rig.call('GET', `/v1/${path}`)
  expect(whole.body.nextCursor).toBeNull()
  const names: string[] = []
  let cursor: string | null = null
  do {
    const rest: string = cursor === null ? '' : `&cursor=${cursor}`
    const page = await rig.call('GET', `/v1/${path}?limit=4${rest}`)
    expect(page.body.data.length).toBeLessThanOrEqual(4)
    names.push(...page.body.data.map(({ name }: { name: string }) => name))
    cursor = page.body.nextCursor
  } while (cursor !== null)
  expect(names).toEqual(whole.body.data.map(({ name }: { name: string }) => name))
  expect((await rig.call('GET', `/v1/${path}?cursor=bm9uc2Vuc2U`)).status).toBe(422)
})

test.each(['workers', 'queues', 'alert-channels', 'dead-letters/summary', 'dead-letters/recipients'])(
  '%s take a limit',
  async (path) => {
    const { status, body } = await rig.call('GET', `/v1/${path}?limit=1`)
    expect([status, Object.keys(body)]).toEqual([200, ['data', 'nextCursor']])
  },
)
