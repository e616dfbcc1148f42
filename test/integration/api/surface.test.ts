import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiRig } from '../../support/api/api-rig.ts'

let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
  await rig.call('POST', '/v1/endpoints', {
    body: { name: 'crm', config: { url: 'https://crm.example.com/hooks' }, eventTypes: ['order.*'] },
  })
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
})

describe('events', () => {
  test('an event is accepted with an id and the number of its deliveries', async () => {
    const { status, body } = await rig.call('POST', '/v1/events', {
      body: { type: 'order.created', payload: { id: 17 } },
    })
    expect(status).toBe(202)
    expect(body).toEqual({ id: expect.stringMatching(/^msg_/), deliveries: 1, held: 0 })
  })

  test('a number keeps digits that JavaScript would lose', async () => {
    const { body } = await rig.call('POST', '/v1/events', {
      body: '{"type":"order.created","payload":{"id":12345678901234567890,"rate":0.1000000000000000055511151231257827}}',
    })
    const [stored] = (
      await rig.database.pool.query(
        `select body::text as text from holdfast_internal.messages where id = holdfast.parse_id('msg', $1)`,
        [body.id],
      )
    ).rows
    expect(stored.text).toBe('{"id":12345678901234567890,"rate":0.1000000000000000055511151231257827}')
  })

  test('a batch is stored whole or not at all', async () => {
    const before = await count('messages')
    const refused = await rig.call('POST', '/v1/events/batch', {
      body: {
        events: [
          { type: 'order.created', payload: 1 },
          { type: 'no type', payload: 2 },
        ],
      },
    })
    expect(refused.status).toBe(422)
    expect(await count('messages')).toBe(before)
    const accepted = await rig.call('POST', '/v1/events/batch', {
      body: {
        events: [
          { type: 'order.created', payload: 1 },
          { type: 'order.paid', payload: 2 },
        ],
      },
    })
    expect(accepted.status).toBe(202)
    expect(accepted.body.events).toHaveLength(2)
    expect(await count('messages')).toBe(before + 2)
  })

  test('are rejected one by one when several arrive together', async () => {
    const before = await count('messages')
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        rig.call('POST', '/v1/events', {
          body: { type: 'order.created', payload: index % 10 === 3 ? 'x'.repeat(1_100_000) : index },
        }),
      ),
    )
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(36)
    expect(
      answers.filter(({ status, body }) => status === 413 && body.code === 'payload_too_large'),
    ).toHaveLength(4)
    expect(await count('messages')).toBe(before + 36)
  })

  test('an Idempotency-Key makes a repetition the same event', async () => {
    const send = (payload: unknown) =>
      rig.call('POST', '/v1/events', {
        body: { type: 'order.created', payload },
        headers: { 'idempotency-key': 'order-99' },
      })
    const [first, second] = [await send({ id: 99 }), await send({ id: 99 })]
    expect(second.body).toEqual(first.body)
    const other = await send({ id: 100 })
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused'])
  })
})

describe('problems', () => {
  test('unknown fields are refused with their names and places', async () => {
    const { status, body, headers } = await rig.call('POST', '/v1/endpoints', {
      body: { name: 'other', confg: {}, retry: { maxRetrys: 3 } },
    })
    expect(status).toBe(422)
    expect(headers.get('content-type')).toMatch('application/problem+json')
    expect(body).toMatchObject({ code: 'invalid_request', status: 422, title: 'Unprocessable Entity' })
    expect(body.problems.map(({ path }: { path: string }) => path).sort()).toEqual([
      'confg',
      'retry.maxRetrys',
    ])
    expect(body.requestId).toBe(headers.get('x-request-id'))
  })

  test.each(['/v1/events', '/v1/deliveries'])(
    'an unknown filter of %s is answered with the one that was meant',
    async (path) => {
      const { status, body } = await rig.call('GET', `${path}?type=order.paid`)
      expect(status).toBe(422)
      expect(body.problems).toEqual([
        { path: 'type', message: 'is not a known field: did you mean eventType?' },
      ])
    },
  )

  test.each([
    ['a body that ends too soon', 'POST', '/v1/events', '{"type":', 400, 'invalid_json'],
    ['deep nesting', 'POST', '/v1/events', '['.repeat(5000) + ']'.repeat(5000), 400, 'invalid_json'],
    ['an unknown path', 'GET', '/v1/nothing-here', null, 404, 'not_found'],
    ['a method that is not there', 'DELETE', '/v1/events', null, 405, 'method_not_allowed'],
    ['an endpoint that is not there', 'GET', '/v1/endpoints/none', null, 404, 'endpoint_not_found'],
    ['a cursor of nobody', 'GET', '/v1/endpoints?cursor=%00', null, 422, 'invalid_request'],
    ['a limit beyond the limit', 'GET', '/v1/endpoints?limit=1e9', null, 422, 'invalid_request'],
    ['a path that is no URL', 'GET', '/v1/endpoints/%ZZ', null, 400, 'bad_http'],
  ])('%s: %s %s', async (_what, method, path, body, status, code) => {
    const answer = await rig.call(method, path, body === null ? {} : { body })
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  test('a body that is not JSON by its type is refused', async () => {
    const answer = await rig.call('POST', '/v1/events', {
      body: 'type=x',
      headers: { 'content-type': 'text/plain' },
    })
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type'])
  })
})

describe('lists', () => {
  test('pages follow each other by their cursors without a gap or a repetition', async () => {
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) {
      await rig.holdfast.endpoints.create({ name, config: { url: 'https://x.example' }, tags: ['paged'] })
    }
    const names: string[] = []
    let cursor: string | null = null
    do {
      const { body } = await rig.call(
        'GET',
        `/v1/endpoints?tag=paged&limit=2${cursor ? `&cursor=${cursor}` : ''}`,
      )
      names.push(...body.data.map(({ name }: { name: string }) => name))
      cursor = body.nextCursor
    } while (cursor !== null)
    expect(names).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
  })
})

describe('health', () => {
  test('/livez and /readyz answer without a key', async () => {
    expect((await rig.call('GET', '/livez', { key: null })).status).toBe(200)
    const ready = await rig.call('GET', '/readyz', { key: null })
    expect([ready.status, ready.body]).toEqual([
      200,
      {
        status: 'ready',
        database: 'ok',
        migrations: 'ok',
        isStarting: false,
        isStopping: false,
        reason: null,
      },
    ])
  })
})

async function count(table: string): Promise<number> {
  return Number(
    (await rig.database.pool.query(`select count(*) from holdfast_internal.${table}`)).rows[0].count,
  )
}
