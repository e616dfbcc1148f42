import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'

let api: ApiRig
const ids: string[] = []

beforeAll(async () => {
  api = await ApiRig.create()
  const payloads = [
    { order: 1, customer: { id: 17, name: 'Ada Brandt' }, items: [{ sku: 'A-1' }] },
    { order: 2, customer: { id: '17', name: 'Ümit' }, items: [{ sku: 'B-2' }] },
    { order: 3, customer: { id: 18 }, 'first name': 'x', paid: true, note: 'He said "hi"' },
    { order: 4, text: 'with a NUL in it', customer: { id: 19 } },
    { order: 5, big: 'y'.repeat(300_000), customer: { id: 20 } },
  ]
  for (const [place, payload] of payloads.entries()) {
    const { body } = await api.call('POST', '/v1/events', {
      body: {
        type: place % 2 === 0 ? 'order.created' : 'order.paid',
        tenant: 'acme',
        orderingKey: `customer-${place % 3}`,
        payload,
      },
    })
    expect(body.id).toBeTypeOf('string')
    ids.push(body.id as string)
  }
  // Refused today; what a version before took may still be there.
  await api.database.pool.query(
    `update holdfast_internal.messages set body = '{"order": 4, "text": "with a NUL \\u0000 in it"}' where id = holdfast.parse_id('msg', $1)`,
    [ids[3]],
  )
})
afterAll(() => api.stop())

/** A step takes a bounded time: on a busy machine one may not get to the end. */
const found = async (query: string) => {
  const seen: number[] = []
  let cursor: string | null = null
  do {
    const { status, body, text } = await api.call(
      'GET',
      `/v1/events/search?${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
    )
    expect([query, status, status === 200 ? '' : text]).toEqual([query, 200, ''])
    seen.push(...(body.data as { id: string }[]).map(({ id }) => ids.indexOf(id) + 1))
    cursor = body.nextCursor as string | null
  } while (cursor !== null)
  return seen
}

test.each([
  ['path=customer.id&equals=17', [2, 1]],
  ['path=$.customer.id&equals=18', [3]],
  ['path=items[0].sku&equals=B-2', [2]],
  ['path="first name"&equals=x', [3]],
  ['path=paid&equals=true', [3]],
  ['path=customer.name&equals=%C3%9Cmit', [2]],
  ['path=customer.id&equals=17&eventType=order.paid', [2]],
  ['path=customer.id&equals=17&orderingKey=customer-0', [1]],
  ['path=customer.id&equals=17&tenant=other', []],
  ['path=nowhere.at.all&equals=17', []],
  ['text=Ada%20Brandt', [1]],
  ['text=ada%20brandt', []],
  ['text=yyyy&path=order&equals=5', [5]],
])('%s finds %j', async (query, orders) => {
  expect(await found(query)).toEqual(orders)
})

test('a payload that PostgreSQL can not show as text stops no search', async () => {
  expect(await found('path=order&equals=3')).toEqual([3])
  expect(await found('text=with%20a%20NUL')).toEqual([4])
})

test('a step stops when its page is full, and the next goes on from there', async () => {
  const seen: number[] = []
  let cursor: string | null = null
  let scanned = 0
  do {
    const { body } = await api.call(
      'GET',
      `/v1/events/search?text=order&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
    )
    seen.push(...(body.data as { id: string }[]).map(({ id }) => ids.indexOf(id) + 1))
    scanned += body.scanned as number
    expect(body.scannedTo === null).toBe(body.nextCursor === null)
    cursor = body.nextCursor as string | null
  } while (cursor !== null)
  expect(seen).toEqual([5, 4, 3, 2, 1])
  expect(scanned).toBe(5)
})

test('a step says about how many events there are, when they were counted', async () => {
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const unknown = await api.call('GET', `/v1/events/search?text=x&from=${from}`)
  expect([unknown.status, unknown.text]).toEqual([200, unknown.text])
  expect(unknown.body.total).toBeNull()
  await api.database.pool.query('select holdfast_internal.sample_site(60, 1000)')
  await api.database.pool.query(
    `update holdfast_internal.site_rollups set accepted = 7 where step_seconds = 60
     and starts_at = (select max(starts_at) from holdfast_internal.site_rollups where step_seconds = 60)`,
  )
  const known = await api.call('GET', `/v1/events/search?text=x&from=${from}`)
  expect(known.body.total).toBe(7)
})

test('events are listed by their ordering key', async () => {
  const { body } = await api.call('GET', '/v1/events?orderingKey=customer-1')
  expect((body.data as { id: string }[]).map(({ id }) => ids.indexOf(id) + 1)).toEqual([5, 2])
})

test.each([
  ['', 'give a path with the value'],
  ['path=a', 'path and equals must be given together'],
  ['equals=a&text=b', 'path and equals must be given together'],
  ['path=a..b&equals=1', 'must be a path into the payload'],
  ['text=x&cursor=nonsense', 'nextCursor'],
])('%s is refused: %s', async (query, message) => {
  const { status, text } = await api.call('GET', `/v1/events/search?${query}`)
  expect([status, text]).toEqual([
    expect.toSatisfy((code) => code === 400 || code === 422),
    expect.stringContaining(message),
  ])
})
