import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'

let api: ApiRig

beforeAll(async () => {
  api = await ApiRig.create()
  await api.holdfast.endpoints.create({ name: 'crm', transport: 'function', eventTypes: ['order.*'] })
  await api.holdfast.endpoints.pause('crm')
  await api.call('POST', '/v1/jobs', { body: { name: 'mail' } })
})
afterAll(async () => {
  expect(api.complaints).toEqual([])
  await api.stop()
})

const sql = async (statement: string, values: readonly unknown[]) => {
  const { rows } = await api.database.pool.query<{ id: string }>(`select ${statement} as id`, [...values])
  return rows[0]!.id
}
const publish = (payload: string, options: object = {}) =>
  sql('holdfast.publish($1, $2, $3)', ['order.created', payload, JSON.stringify(options)])
const enqueue = (options: object, payload = '{}') =>
  sql('holdfast.enqueue($1, $2, $3)', ['mail', payload, JSON.stringify(options)])

describe('SQL refuses what the API can not show', () => {
  const others = [
    '0044-03-15 BC',
    '10000-01-01T00:00:00Z',
    '275760-09-14T00:00:00Z',
    '290000-01-01',
    '-infinity',
  ]
  test.each(others)('a time in another year: %s', async (time) => {
    for (const option of ['deliverAt', 'expiresAt']) {
      await expect(publish('{}', { [option]: time })).rejects.toMatchObject({ code: 'HF002' })
    }
    await expect(enqueue({ runAt: time })).rejects.toMatchObject({ code: 'HF002' })
    await expect(enqueue({ expiresAt: time })).rejects.toMatchObject({ code: 'HF002' })
  })

  test('the first and the last year are accepted and shown', async () => {
    await publish('{}', { deliverAt: '0001-01-01T00:00:00Z', expiresAt: '9999-12-31T23:59:59Z' })
    await publish('{}', { deliverAt: '9999-12-31T23:59:59Z' })
    await enqueue({ runAt: '9999-12-31T23:59:59Z' })
    for (const list of ['deliveries', 'events', 'runs']) {
      expect((await api.call('GET', `/v1/${list}`)).status).toBe(200)
    }
    const { body } = await api.call('GET', '/v1/deliveries')
    for (const { id } of body.data as { id: string }[]) {
      expect((await api.call('GET', `/v1/deliveries/${id}`)).status).toBe(200)
      expect((await api.call('GET', `/v1/deliveries/${id}/why`)).status).toBe(200)
    }
  })
})

test('payloads that are JSON and no jsonb match no filter, and fail no call', async () => {
  // The functions that the SDK calls take text; an application may call them without the SDK, which refuses such payloads.
  const bodies = ['{"n": 1e999999}', '{"n": "\\u0000"}', '{"n": 7}']
  await api.database.pool.query(
    `select holdfast_internal.accept_events(array_fill('odd.number'::text, array[3]), $1)`,
    [bodies],
  )
  const { status, body } = await api.call('POST', '/v1/routes/matches', {
    body: { route: { eventType: 'odd.*', filter: '$.n > 5', endpoint: 'crm' } },
  })
  expect([status, body.matched, body.filteredOut]).toEqual([200, 1, 2])
})

test('SQL has the limits of the API for the keys and tags of a run', async () => {
  // Every character takes four bytes and none repeats at a distance, so that nothing is compressed.
  const text = (length: number) =>
    String.fromCodePoint(...Array.from({ length }, (_, at) => 0x1_f000 + ((at * 7919) % 2999)))
  const limits = { uniqueKey: 255, concurrencyKey: 255, fairKey: 255, worker: 127, reason: 1000 }
  for (const [option, longest] of Object.entries(limits)) {
    await enqueue({ [option]: text(longest) })
    await expect(enqueue({ [option]: text(longest + 1) })).rejects.toMatchObject({ code: 'HF002' })
  }
  await enqueue({ tags: [text(63), 'b'], requireTags: ['eu-1'] })
  for (const tag of [1, null, {}, '', text(64)]) {
    await expect(enqueue({ tags: ['a', tag] })).rejects.toMatchObject({ code: 'HF002' })
    await expect(enqueue({ requireTags: ['a', tag] })).rejects.toMatchObject({ code: 'HF002' })
  }
  await expect(enqueue({ requireTags: ['a,b'] })).rejects.toMatchObject({ code: 'HF002' })
  expect((await api.call('GET', '/v1/runs')).status).toBe(200)
})

describe('JSON that is nested deeper than an answer can be written', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

  test('is shown as text when it is a payload', async () => {
    const event = await api.call('GET', `/v1/events/${await publish(deep(6000))}`)
    expect([event.status, event.body.payload]).toEqual([200, deep(6000)])
    const run = await api.call('GET', `/v1/runs/${await enqueue({ delayMs: 60_000 }, deep(6000))}`)
    expect([run.status, run.body.payload]).toEqual([200, deep(6000)])
  })

  test('is shown as JSON up to 1,000 levels', async () => {
    const { body } = await api.call('GET', `/v1/events/${await publish(deep(1000))}`)
    expect(JSON.stringify(body.payload)).toBe(deep(1000))
  })

  test('is refused as metadata', async () => {
    const metadata = (levels: number) =>
      sql('holdfast.publish($1, $2, $3)', ['order.created', '{}', `{"metadata": {"a": ${deep(levels)}}}`])
    await expect(metadata(101)).rejects.toMatchObject({ code: 'HF002' })
    await expect(metadata(6000)).rejects.toMatchObject({ code: 'HF002' })
    expect((await api.call('GET', `/v1/events/${await metadata(90)}`)).status).toBe(200)
  })
})
