import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'

let rig: ApiRig

beforeAll(async () => {
  // Nothing is delivered here: no node runs.
  rig = await ApiRig.create({ actor: 'ada' })
  for (const name of ['alpha', 'beta', 'gamma']) {
    await rig.holdfast.endpoints.create({ name, config: { url: `https://${name}.example.com/hooks` } })
  }
})

afterAll(() => rig.stop())

async function send(endpoint: string, options: object = {}): Promise<string> {
  const { body } = await rig.call('POST', `/v1/endpoints/${endpoint}/send`, {
    body: { payload: {}, ...options },
  })
  return body.deliveryId
}

const why = async (id: string) => (await rig.call('GET', `/v1/deliveries/${id}/why`)).body

describe('why a delivery is not delivered', () => {
  test('because no node owns its shard', async () => {
    expect(await why(await send('alpha'))).toMatchObject({
      code: 'no_owner',
      until: null,
      orderingKey: null,
      tries: { used: 0, allowed: 11 },
      owner: { node: null, isAlive: false },
    })
  })

  test('a pause says who made it and why, and ends with a resumption', async () => {
    const id = await send('beta')
    await rig.call('POST', '/v1/endpoints/beta/pause', { body: { reason: 'stock count' } })
    const { code, sentence } = await why(id)
    expect(code).toBe('endpoint_paused')
    expect(sentence).toMatch(/^beta was paused by key:admin-\S+: stock count\./)
    await rig.call('POST', '/v1/endpoints/beta/resume', { body: {} })
    expect((await why(id)).code).toBe('no_owner')
  })

  test('because others of its ordering key are first: names the first, and counts those ahead and behind', async () => {
    const first = await send('gamma', { orderingKey: 'customer-7' })
    const second = await send('gamma', { orderingKey: 'customer-7' })
    await send('gamma', { orderingKey: 'customer-7' })
    await send('gamma', { orderingKey: 'another' })
    expect(await why(second)).toMatchObject({
      code: 'behind_key',
      orderingKey: { key: 'customer-7', ahead: 1, behind: 1, first },
    })
    expect(await why(first)).toMatchObject({
      code: 'no_owner',
      orderingKey: { ahead: 0, behind: 2, first: null },
    })
  })

  test('because it is scheduled: says until when', async () => {
    const deliverAt = new Date(Date.now() + 3_600_000).toISOString()
    expect(await why(await send('alpha', { deliverAt }))).toMatchObject({
      code: 'due_later',
      until: deliverAt,
    })
  })

  test('because it was cancelled; an unknown id is not found', async () => {
    const id = await send('alpha')
    await rig.call('POST', `/v1/deliveries/${id}/cancel`, { body: { reason: 'Sent by mistake.' } })
    expect(await why(id)).toMatchObject({ code: 'cancelled', tries: null, owner: null })
    const missing = await rig.call('GET', '/v1/deliveries/dlv_00000000001/why')
    expect([missing.status, missing.body.code]).toEqual([404, 'delivery_not_found'])
  })
})

describe('the health of many endpoints', () => {
  const names = async (query: string) =>
    (await rig.call('GET', `/v1/endpoint-health${query}`)).body.data.map(({ name }: { name: string }) => name)

  test('comes by name, in pages, by a part of the name', async () => {
    expect(await names('')).toEqual(['alpha', 'beta', 'gamma'])
    const page = await rig.call('GET', '/v1/endpoint-health?limit=2')
    expect(page.body.data[0]).toMatchObject({
      name: 'alpha',
      url: 'https://alpha.example.com/hooks',
      state: 'active',
      concurrency: 64,
      successRate: null,
      series: [],
    })
    expect(await names(`?cursor=${page.body.nextCursor}`)).toEqual(['gamma'])
    expect(await names('?q=et')).toEqual(['beta'])
    expect(await names('?q=%25')).toEqual([])
  })

  test('can be limited to unhealthy endpoints', async () => {
    expect(await names('?troubled=true')).toEqual([])
    await rig.call('POST', '/v1/endpoints/beta/disable', { body: { reason: 'moved' } })
    expect(await names('?troubled=true')).toEqual(['beta'])
    const { body } = await rig.call('GET', '/v1/overview')
    expect(body.attention).toEqual([
      expect.objectContaining({
        kind: 'endpoint_disabled',
        subject: 'endpoint:beta',
        // How many wait is what its owner reports, and there is none.
        sentence: 'Moved. Nothing waits.',
        recovers: false,
      }),
    ])
    expect(body.changes[0]).toMatchObject({ action: 'endpoint.disabled', subject: 'endpoint:beta' })
    expect(body.changes[0]).not.toHaveProperty('actor')
  })

  test('leaves triggered runs out of what has changed, however many there are', async () => {
    await rig.call('POST', '/v1/jobs', { body: { name: 'hourly' } })
    for (let k = 0; k < 12; k++) await rig.call('POST', '/v1/jobs/hourly/trigger', { body: {} })
    const { body } = await rig.call('GET', '/v1/overview')
    expect(body.changes[0]).toMatchObject({ subject: 'job:hourly' })
    expect(body.changes.map(({ action }: { action: string }) => action)).not.toContain('job.triggered')
  })
})

describe('search', () => {
  const found = async (text: string) =>
    (await rig.call('GET', `/v1/search?q=${encodeURIComponent(text)}`)).body.data.map(
      ({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`,
    )

  test('finds names by a part in any case, over all kinds', async () => {
    await rig.holdfast.routes.create({ name: 'orders-to-alpha', eventType: 'order.*', endpoint: 'alpha' })
    await rig.call('POST', '/v1/jobs', { body: { name: 'alphabetise', queue: 'alpha-queue' } })
    expect(await found('ALPHA')).toEqual([
      'endpoint alpha',
      'route orders-to-alpha',
      'job alphabetise',
      'queue alpha-queue',
    ])
    expect(await found('%')).toEqual([])
  })

  test('tells what an id names', async () => {
    expect(await found('dlt_0jm3x1c8000')).toEqual(['dead_letter dlt_0jm3x1c8000'])
  })
})

test('the page has who looks in it as data, and nothing of it can become markup', async () => {
  const { key } = await rig.holdfast.apiKeys.create({ name: '</script><script>alert(1)', role: 'viewer' })
  const page = await rig.call('GET', '/endpoints/alpha?tab=settings', { key })
  // Without a build of the dashboard there is a page that says so.
  if (page.status === 503) return
  expect(page.text).toContain('<base href="../"')
  expect(page.text).not.toContain('<script>alert(1)')
  expect(page.headers.get('cache-control')).toBe('no-store')
  const [, asset] = /src="\.\/(assets\/app\/[\w.-]+\.js)"/.exec(page.text) ?? []
  const file = await rig.call('GET', `/${asset}`, { key: null })
  expect(file.status).toBe(200)
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
})

test('a browser at a mistyped address gets the application, which says so; the API and other clients get JSON', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  for (const path of ['/evnts', '/evnts/msg_1?a=1']) {
    const page = await rig.call('GET', path, { headers: { accept } })
    expect(page.status).toBe(404)
    // Without a build of the dashboard there is nothing to show.
    if (existsSync('dist/dashboard/index.html'))
      expect(page.headers.get('content-type')).toMatch(/^text\/html/)
  }
  for (const [path, headers] of [
    ['/evnts', { accept: 'application/json' }],
    ['/v1/evnts', { accept }],
    ['/v1', { accept }],
  ] as const) {
    const answer = await rig.call('GET', path, { headers })
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
  }
})
