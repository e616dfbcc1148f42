import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { framingHeaders } from '../../../src/core/endpoints/reserved-headers.ts'
import { HoldfastError } from '../../../src/core/errors.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Rig } from '../../support/engine/rig.ts'
import { createTestDatabase } from '../../support/test-database.ts'

describe('what is refused', () => {
  let rig: Rig
  let holdfast: Holdfast
  let before: string

  beforeAll(async () => {
    rig = await Rig.create()
    holdfast = rig.client()
    await holdfast.endpoints.create({ name: 'hook', transport: 'function' })
  })
  afterAll(() => rig.stop())

  /** Everything that a refusal could have left behind. */
  const stored = async () =>
    rig.value<string>(
      `select jsonb_build_array(
         (select count(*) from holdfast_internal.messages), (select count(*) from holdfast_internal.deliveries), (select count(*) from holdfast_internal.dead_letters),
         (select count(*) from holdfast_internal.idempotency_keys), (select count(*) from holdfast_internal.endpoints), (select count(*) from holdfast_internal.audit_log)
       )::text`,
    )

  beforeEach(async () => {
    before = await stored()
  })
  afterEach(async () => {
    expect(await stored()).toBe(before)
  })

  it.each(['delayMs', 'idempotencyKey', 'query'])(
    'an option of single messages for a whole batch: %s',
    async (option) => {
      const options = { [option]: 60_000 }
      for (const work of [
        () => holdfast.sendBatch('hook', [{ payload: 1 }], options),
        () => holdfast.publishBatch([{ type: 'a', payload: 1 }], options),
        () => holdfast.enqueueBatch('report', [{ input: 1 }], options),
      ]) {
        expect(await refusal(work())).toMatchObject({
          code: 'invalid_options',
          message: `The options of the batch are invalid. ${option}: give it with each message; a batch as a whole takes only client`,
        })
      }
    },
  )

  async function refusal(work: Promise<unknown>): Promise<HoldfastError> {
    const error = await work.then(
      () => null,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(HoldfastError)
    return error as HoldfastError
  }

  const headers = (count: number, value: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, value]))

  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a function', () => undefined],
    ['a symbol', Symbol('x')],
    ['a bigint', 1n],
    ['a cycle', cyclic],
    ['a NUL character', { text: 'a\u0000b' }],
    ['a NUL in a key', { 'a\u0000b': 1 }],
    [
      'what throws when it is written',
      {
        toJSON: () => {
          throw new Error('no')
        },
      },
    ],
  ])('as a payload: %s', async (_, payload) => {
    const error = await refusal(holdfast.sendBatch('hook', [{ payload: 1 }, { payload }]))
    expect(error).toMatchObject({ code: 'invalid_payload', status: 422, details: { index: 1 } })
    expect(error.message).toMatch(/message 2/)
  })

  it('takes a backslash before u0000 that is no NUL', async () => {
    const sent = await holdfast.send('hook', { text: String.raw`\u0000 is how JSON writes a NUL` })
    const body = await rig.value<{ text: string }>(
      'select body from holdfast_internal.messages order by id desc limit 1',
    )
    expect(sent.id).toMatch(/^msg_/)
    expect(body.text).toBe(String.raw`\u0000 is how JSON writes a NUL`)
    before = await stored()
  })

  it('a payload over the limit, and takes one that just fits', async () => {
    const limit = 1_048_576
    const error = await refusal(holdfast.send('hook', 'x'.repeat(limit - 1)))
    expect(error).toMatchObject({ code: 'payload_too_large', status: 413 })
    expect(error.message).toMatch(/1048577.*1048576|reference/)
    await holdfast.send('hook', 'x'.repeat(limit - 2))
    before = await stored()
  })

  it.each(['nobody', '', 'HOOK', 'hook ', "'; drop table holdfast_internal.messages; --"])(
    'an endpoint that does not exist: "%s"',
    async (name) => {
      const error = await refusal(holdfast.send(name, 1))
      expect(error).toMatchObject({ code: 'endpoint_not_found', status: 404 })
      expect(error.message).toMatch(/holdfast endpoints create/)
      expect((await refusal(holdfast.endpoints.pause(name))).code).toBe('endpoint_not_found')
      expect((await refusal(holdfast.endpoints.resetCircuit(name))).code).toBe('endpoint_not_found')
      expect((await refusal(holdfast.endpoints.get(name))).code).toBe('endpoint_not_found')
      expect((await refusal(holdfast.endpoints.health(name))).code).toBe('endpoint_not_found')
      expect((await refusal(holdfast.request(name))).code).toBe('endpoint_not_found')
    },
  )

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['an option that nobody knows', { delayMs: 5 }, /delayMs/],
    ['a priority too high', { priority: 4 }, /priority/],
    ['a priority that is no number', { priority: 'high' }, /priority/],
    ['an empty ordering key', { orderingKey: '' }, /orderingKey/],
    ['a key that is too long', { idempotencyKey: 'k'.repeat(256) }, /idempotencyKey/],
    ['a time without a zone', { deliverAt: '2030-01-01T00:00:00' }, /deliverAt/],
    ['a time that is none', { expiresAt: new Date(Number.NaN) }, /expiresAt/],
    [
      'an end before the beginning',
      { deliverAt: '2030-01-02T00:00:00Z', expiresAt: '2030-01-01T00:00:00Z' },
      /expiresAt/,
    ],
    ['a criticality that nobody knows', { criticality: 'urgent' }, /criticality/],
    ['a header with a line break', { headers: { 'x-a': 'a\r\nb: c' } }, /header/],
    ['a header that is no text', { headers: { 'x-a': 1 } }, /header/],
    ['a header that Holdfast sets', { headers: { 'Webhook-Id': 'msg_1' } }, /header/],
    ['metadata with a NUL', { metadata: { a: '\u0000' } }, /metadata/],
  ])('as an option: %s', async (_, options, words) => {
    const error = await refusal(holdfast.send('hook', 1, options))
    expect(error).toMatchObject({ code: 'invalid_options', status: 422 })
    expect(error.message).toMatch(words)
  })

  it.each([
    ['an option that nobody knows', `{"delayMs": 5}`],
    ['options that are a list', `[]`],
    ['options that are null inside', `null`],
    ['a priority too high', `{"priority": 9}`],
    ['a time that is none', `{"deliverAt": "soon-ish"}`],
    ['headers that are a text', `{"headers": "x"}`],
    ['a criticality that nobody knows', `{"criticality": "urgent"}`],
    ['a key that is too long', JSON.stringify({ orderingKey: 'k'.repeat(256) })],
    ['a time without end', `{"deliverAt": "infinity"}`],
    ['a time before all time', `{"deliverAt": "-infinity"}`],
    [
      'an end before the beginning',
      `{"deliverAt": "2030-01-02T00:00:00Z", "expiresAt": "2030-01-01T00:00:00Z"}`,
    ],
    ['an empty ordering key', `{"orderingKey": ""}`],
    ['an ordering key that is no text', `{"orderingKey": {"a": 1}}`],
    ['a tenant that is a number', `{"tenant": 7}`],
    ['a type with a space', `{"type": "order created"}`],
    ['metadata that is a list', `{"metadata": [1]}`],
    ['more options than fit', JSON.stringify({ metadata: { a: 'x'.repeat(32_768) } })],
    ['a header with a line break', String.raw`{"headers": {"x-a": "a\r\nb: c"}}`],
    ['a header with a NUL-like control character', String.raw`{"headers": {"x-a": "a\u0001"}}`],
    ['a header beyond Latin-1', `{"headers": {"x-a": "€"}}`],
    ['a header that is no text', `{"headers": {"x-a": 1}}`],
    ['a header that is null', `{"headers": {"x-a": null}}`],
    ['a header with a bad name', `{"headers": {"x a": "1"}}`],
    ['a header without a name', `{"headers": {"": "1"}}`],
    ['a header that Holdfast sets', `{"headers": {"Webhook-Id": "msg_1"}}`],
    ['too many headers', JSON.stringify({ headers: headers(65, 'x') })],
    ['headers that are too long', JSON.stringify({ headers: headers(9, 'x'.repeat(1000)) })],
  ])('in SQL: %s', async (_, options) => {
    await expect(rig.rows(`select holdfast.send('hook', '1', $1)`, [options])).rejects.toMatchObject({
      code: 'HF002',
    })
    await expect(
      rig.rows(`select holdfast.send_batch('hook', array['1', '2']::jsonb[], $1)`, [options]),
    ).rejects.toMatchObject({ code: 'HF002' })
  })

  it('every header that frames a request or carries its identity, from the SDK and from SQL', async () => {
    for (const name of [...framingHeaders, 'webhook-signature', 'holdfast-attempt']) {
      for (const spelled of [name, name.toUpperCase()]) {
        const options = { headers: { [spelled]: '1' } }
        expect((await refusal(holdfast.send('hook', 1, options))).code).toBe('invalid_options')
        await expect(
          rig.rows(`select holdfast.send('hook', '1', $1)`, [JSON.stringify(options)]),
        ).rejects.toMatchObject({ code: 'HF002', message: expect.stringMatching(/is set by Holdfast/) })
        await expect(
          rig.rows(`select holdfast.publish('a', '1', $1)`, [JSON.stringify(options)]),
        ).rejects.toMatchObject({ code: 'HF002' })
      }
    }
  })

  it('in SQL: the error names the message of a batch and its problem', async () => {
    await expect(
      rig.rows(
        `select * from holdfast_internal.accept_messages('hook', array['1', '2', '3'], array[null, '{"priority": 1}', '{"priority": 7}']::jsonb[])`,
      ),
    ).rejects.toMatchObject({ code: 'HF002', message: 'message 3: priority must be 0, 1, 2 or 3, not 7' })
    await expect(
      rig.rows(`select holdfast.publish_batch('[{"type": "a"}, {"type": "a", "headers": {"x a": ""}}]')`),
    ).rejects.toMatchObject({ code: 'HF002', message: expect.stringMatching(/^message 2: header "x a"/) })
  })

  it('nothing that SQL can say in other words: null is absent, and what just fits is taken', async () => {
    for (const options of [
      { tenant: null, orderingKey: null, headers: null, metadata: null, deliverAt: null, criticality: null },
      { headers: headers(64, 'é\tü') },
      { headers: headers(8, 'x'.repeat(1000)), type: 'order/created' },
    ])
      await rig.rows(`select holdfast.send('hook', '1', $1)`, [JSON.stringify(options)])
    before = await stored()
  })

  it('in SQL: an unknown endpoint, and bodies that are not JSON', async () => {
    await expect(rig.rows(`select holdfast.send('nobody', '1')`)).rejects.toMatchObject({ code: 'HF001' })
    await expect(
      rig.rows(`select * from holdfast_internal.accept_messages('hook', array['1', '{oops'])`),
    ).rejects.toMatchObject({ code: '22P02' })
    await expect(
      rig.rows(`select * from holdfast_internal.accept_messages('hook', array['1', null])`),
    ).rejects.toMatchObject({ code: expect.any(String) })
    await expect(
      rig.rows(`select holdfast.send_batch('hook', array['1', null]::jsonb[])`),
    ).rejects.toMatchObject({ code: 'HF002', message: 'payload 2 is null' })
    await expect(
      rig.rows(`select holdfast.enqueue_batch('report', array['1', null]::jsonb[])`),
    ).rejects.toMatchObject({ code: 'HF002', message: 'payload 2 is null' })
  })

  it.each(['', 'Upper', '-begins', 'has space', 'a'.repeat(64), 'ümlaut', 'a/b', '../etc'])(
    'as the name of an endpoint: "%s"',
    async (name) => {
      const error = await refusal(holdfast.endpoints.create({ name, transport: 'function' }))
      expect(error).toMatchObject({ code: 'invalid_name', status: 422 })
      expect(error.message).toMatch(/must be 1 to 63 characters/)
    },
  )

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['a transport that nobody knows', { transport: 'pigeon' }, /pigeon/],
    ['a strategy that nobody knows', { retry: { strategy: 'never' } }, /retry\.strategy/],
    ['a delay below its range', { retry: { baseDelayMs: 1 } }, /retry\.baseDelayMs/],
    ['a base above its cap', { retry: { baseDelayMs: 5000, maxDelayMs: 1000 } }, /baseDelayMs/],
    ['a schedule without delays', { retry: { strategy: 'schedule', delaysMs: [] } }, /delaysMs/],
    ['a threshold of zero', { circuit: { threshold: 0 } }, /threshold/],
    ['a cooldown below its range', { circuit: { cooldownMs: 10 } }, /cooldownMs/],
    ['no concurrency', { limits: { concurrency: 0 } }, /concurrency/],
    ['a rate of zero', { limits: { ratePerSecond: 0 } }, /ratePerSecond/],
    ['an onFull that nobody knows', { limits: { onFull: 'explode' } }, /onFull/],
    ['a field that nobody knows', { colour: 'red' }, /colour/],
    ['http without a url', { transport: 'http', config: {} }, /config\.url/],
    ['a url with a password', { transport: 'http', config: { url: 'http://u:p@host/' } }, /config\.url/],
    ['a preset that nobody knows', { preset: 'turbo' }, /preset/],
  ])('as an endpoint: %s', async (_, input, words) => {
    const error = await refusal(holdfast.endpoints.create({ name: 'new', transport: 'function', ...input }))
    expect(error).toMatchObject({ code: 'invalid_endpoint', status: 422 })
    expect(error.message).toMatch(words)
    expect((error.details['problems'] as unknown[]).length).toBeGreaterThan(0)
    expect((await refusal(holdfast.endpoints.update('hook', input as never))).code).toBe('invalid_endpoint')
  })

  it('a second endpoint of the same name', async () => {
    expect(await refusal(holdfast.endpoints.create({ name: 'hook', transport: 'function' }))).toMatchObject({
      code: 'endpoint_exists',
      status: 409,
    })
  })

  describe('when a queue is full', () => {
    afterEach(async () => {
      await rig.rows('delete from holdfast_internal.nodes; delete from holdfast_internal.lane_stats')
    })

    const owed = async (pending: number) => {
      const incarnation = await rig.value<number>(`select holdfast_internal.register_node('reporter', '0')`)
      await rig.rows('select holdfast_internal.beat($1, $2)', [incarnation, pending])
    }

    it('whole batches, by the limit over all endpoints', async () => {
      await owed(999_995)
      const error = await refusal(
        holdfast.sendBatch(
          'hook',
          Array.from({ length: 6 }, (_, index) => ({ payload: index })),
        ),
      )
      expect(error).toMatchObject({ code: 'queue_full', status: 429, isRetryable: true })
      expect(error.message).toMatch(/999995.*1000000/)
      await expect(
        rig.rows(`select holdfast.send_batch('hook', array_fill('1'::jsonb, array[6]))`),
      ).rejects.toMatchObject({ code: '53400' })
      await holdfast.sendBatch(
        'hook',
        Array.from({ length: 5 }, (_, index) => ({ payload: index })),
      )
      before = await stored()
    })

    it('by the limit over all endpoints, counting a batch that is stored in pieces as one', async () => {
      await owed(990_000)
      const messages = Array.from({ length: 12_000 }, (_, index) => ({ payload: index }))
      expect((await refusal(holdfast.sendBatch('hook', messages))).code).toBe('queue_full')
    })

    it('not at all when the bound is off', async () => {
      await rig.rows(`update holdfast_internal.settings set value = '0' where name = 'max_pending'`)
      await owed(5_000_000)
      await holdfast.send('hook', 1)
      await rig.rows(`update holdfast_internal.settings set value = '1000000' where name = 'max_pending'`)
      before = await stored()
    })

    it("by the endpoint's own limit, if it is set to reject", async () => {
      await holdfast.endpoints.create({
        name: 'strict',
        transport: 'function',
        limits: { maxPending: 10, onFull: 'reject' },
      })
      before = await stored()
      await rig.rows('insert into holdfast_internal.lane_stats (lane_id, pending) values ($1, 8)', [
        await rig.laneId('strict'),
      ])
      const error = await refusal(
        holdfast.sendBatch('strict', [{ payload: 1 }, { payload: 2 }, { payload: 3 }]),
      )
      expect(error).toMatchObject({ code: 'queue_full', status: 429 })
      expect(error.message).toMatch(/strict/)
    })

    it("by the endpoint's own limit: becomes a dead letter by default, and keeps its body", async () => {
      await holdfast.endpoints.create({ name: 'lenient', transport: 'function', limits: { maxPending: 10 } })
      await rig.rows('insert into holdfast_internal.lane_stats (lane_id, pending) values ($1, 10)', [
        await rig.laneId('lenient'),
      ])
      const sent = await holdfast.send('lenient', { kept: true }, { orderingKey: 'k', priority: 2 })
      expect(await rig.owed('lenient')).toBe(0)
      expect(
        await rig.rows(
          `select letter.reason, letter.state, letter.priority, letter.ordering_key, letter.attempts, holdfast.format_id('msg', message.id) as id, message.body
           from holdfast_internal.dead_letters as letter join holdfast_internal.messages as message on message.id = letter.message_id`,
        ),
      ).toEqual([
        {
          reason: 'endpoint_full',
          state: 'open',
          priority: 2,
          ordering_key: 'k',
          attempts: [],
          id: sent.id,
          body: { kept: true },
        },
      ])
      before = await stored()
    })
  })

  it('a database that has no schema', async () => {
    const empty = await createTestDatabase({ isMigrated: false })
    const stranger = rig.client({ databaseUrl: empty.url })
    try {
      expect((await refusal(stranger.send('hook', 1))).code).toBe('not_migrated')
      expect((await refusal(stranger.start())).code).toBe('not_migrated')
    } finally {
      await stranger.stop()
      await empty.drop()
    }
  })

  it('a database that is not there', async () => {
    const nowhere = rig.client({ databaseUrl: 'postgres://127.0.0.1:1/none' })
    expect(await refusal(nowhere.send('hook', 1))).toMatchObject({
      code: 'database_unavailable',
      isRetryable: true,
    })
  })
})
