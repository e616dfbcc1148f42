import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loopbackNetworks } from '../../../src/network/network-rules.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'
import { answer } from '../../support/receivers/behaviours.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

const broken = { type: 'template', template: { ref: '{{ ref }}', vat: '{{ customer.vatId }}' } }
const fixed = { type: 'template', template: { ref: '{{ ref }}', vat: '{{ customer.vatId ?? null }}' } }

let rig: ApiRig
let receiver: HttpReceiver

async function call(method: string, path: string, body?: object) {
  const { status, text, body: result } = await rig.call(method, path, body === undefined ? {} : { body })
  expect([method, path, status < 300, text]).toEqual([method, path, true, text])
  return result
}

async function letters(endpoint: string, wanted: number) {
  await until(
    `${wanted} dead letters of ${endpoint}`,
    async () => {
      const { state, deadLetters } = await call('GET', `/v1/endpoints/${endpoint}/health`)
      if (state === 'rejecting') await call('POST', `/v1/endpoints/${endpoint}/resume`, {})
      return deadLetters
    },
    (count) => count === wanted,
    20_000,
  )
}

beforeAll(async () => {
  receiver = await HttpReceiver.start()
  rig = await ApiRig.create({ allowNetworks: loopbackNetworks })
  await rig.holdfast.start()
  const endpoint = (name: string) =>
    call('POST', '/v1/endpoints', { name, config: { url: receiver.url }, retry: { maxRetries: 0 } })
  await endpoint('erp')
  await endpoint('crm')
  await call('POST', '/v1/routes', {
    name: 'invoices-to-erp',
    eventType: 'invoice.*',
    filter: '$.total > 0',
    endpoint: 'erp',
    transform: broken,
  })
  for (let k = 0; k < 6; k++) {
    await call('POST', '/v1/events', {
      type: 'invoice.created',
      payload: { ref: `INV-${k}`, total: k, customer: k === 5 ? { vatId: 'DE1' } : {} },
      orderingKey: `customer-${k % 2}`,
      ...(k === 1 && { criticality: 'critical' }),
    })
  }
  await call('POST', '/v1/events', { type: 'order.created', payload: { id: 1 } })
  await letters('erp', 4)
  // The one that renders has arrived: it must not meet what is answered from here on.
  await receiver.ledger.waitFor(1)
  receiver.behave(answer(422))
  await call('POST', '/v1/endpoints/crm/send', { payload: { id: 1 } })
  await letters('crm', 1)
  receiver.behave(answer(200))
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
  await receiver.stop()
})

describe('a route that is tried', () => {
  test('reports how many recent events match, and which of them it fails to render', async () => {
    const matches = await call('POST', '/v1/routes/matches', { route: 'invoices-to-erp' })
    expect(matches).toMatchObject({
      scanned: 8,
      otherType: 2,
      otherTenant: 0,
      filteredOut: 1,
      matched: 5,
      notChecked: 0,
      rendering: { tried: 5, failed: 4, failures: [{ count: 4 }] },
    })
    expect(matches.rendering.failures[0].message).toContain('customer.vatId')
    expect(matches.filteredOutIds).toHaveLength(1)
    const draft = { eventType: 'invoice.created', endpoint: 'erp', transform: fixed, filter: null }
    expect(await call('POST', '/v1/routes/matches', { route: draft })).toMatchObject({
      matched: 6,
      rendering: { tried: 6, failed: 0, failures: [] },
    })
  })

  test('reports where its filter is invalid', async () => {
    const route = { eventType: 'a.*', endpoint: 'erp', filter: '$.total >' }
    const { status, body } = await rig.call('POST', '/v1/routes/matches', { body: { route } })
    expect([status, body.code]).toEqual([422, 'invalid_route'])
  })

  test('shows the id and time of a stored event', async () => {
    const { data } = await call('GET', '/v1/events?eventType=order.created')
    const preview = await call('POST', '/v1/routes/preview', {
      route: {
        eventType: 'order.*',
        endpoint: 'erp',
        transform: { type: 'template', template: { id: '{{ $messageId }}', at: '{{ $createdAt }}' } },
      },
      eventId: data[0].id,
    })
    expect(JSON.parse(preview.rendered.body)).toEqual({ id: data[0].id, at: data[0].createdAt })
    expect(preview.matches).toBe(true)
  })

  test.each([
    [{}, 422, 'invalid_options'],
    [{ eventId: 'msg_0000000000a' }, 404, 'event_not_found'],
  ])('rejects %j and says what to give', async (given, status, code) => {
    const answered = await rig.call('POST', '/v1/routes/preview', {
      body: { route: 'invoices-to-erp', ...given },
    })
    expect([answered.status, answered.body.code]).toEqual([status, code])
  })
})

describe('event types', () => {
  test('of recently published events are counted, declared or not', async () => {
    const recent = await call('GET', '/v1/recent-event-types')
    expect(recent.data.map(({ type, count }: { type: string; count: number }) => [type, count])).toEqual([
      ['invoice.created', 6],
      ['order.created', 1],
    ])
    expect(recent.scanned).toBe(8)
  })

  test('are checked against a schema before it is stored', async () => {
    const schema = { type: 'object', properties: { customer: { required: ['vatId'] } } }
    // A check takes a bounded time, in which the first thread that compiles a schema may get to few events.
    const check = await until(
      'all events to be checked',
      () => call('POST', '/v1/event-types/invoice.created/check', { schema }),
      ({ checked }) => checked === 6,
    )
    expect(check).toMatchObject({ checked: 6, failed: 5 })
    expect(check.failures[0].problems[0].path).toContain('customer')
    const wrong = await rig.call('POST', '/v1/event-types/invoice.created/check', {
      body: { schema: { type: 'thing' } },
    })
    expect([wrong.status, wrong.body.code]).toEqual([422, 'invalid_event_type'])
  })
})

describe('dead letters', () => {
  test('are grouped with hourly counts, routes and the change right before', async () => {
    const first = await call('GET', '/v1/dead-letters/groups?limit=1')
    const [group] = first.data
    expect(group).toMatchObject({
      endpoint: 'erp',
      count: 4,
      routes: ['invoices-to-erp'],
      precededBy: { action: 'route.created', subject: 'route:invoices-to-erp' },
    })
    expect(group.series).toHaveLength(24)
    expect(group.series.reduce((sum: number, one: number) => sum + one, 0)).toBe(4)
    const second = await call('GET', `/v1/dead-letters/groups?limit=1&cursor=${first.nextCursor}`)
    expect(second.data.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(['crm'])
    expect(second.nextCursor).toBeNull()
    expect(second.data[0].precededBy).toMatchObject({ action: 'endpoint.created', subject: 'endpoint:crm' })
    const odd = await rig.call('GET', '/v1/dead-letters/groups?cursor=nonsense')
    expect([odd.status, odd.body.code]).toEqual([422, 'invalid_filter'])
  })

  test('are tried, fixed, redriven with a reason, and their outcome is known', async () => {
    const filter = { endpoint: 'erp' }
    const before = await call('POST', '/v1/dead-letters/trial', { filter })
    expect(before).toMatchObject({ tried: 4, rendered: 0 })
    expect(before.failures[0].message).toContain('customer.vatId')
    await call('PATCH', '/v1/routes/invoices-to-erp', { transform: fixed, reason: 'HF-2210' })
    expect(await call('POST', '/v1/dead-letters/trial', { filter })).toEqual({
      tried: 4,
      rendered: 4,
      failures: [],
    })
    const preview = await call('POST', '/v1/operations/preview', { kind: 'redrive', filter })
    expect(preview).toMatchObject({
      count: 4,
      isExact: true,
      breakdown: { critical: 1, orderingKeys: 2, lookedAt: 4, isComplete: true },
    })
    receiver.behave((request, response) =>
      answer(request.body.includes('INV-1') ? 422 : 200)(request, response),
    )
    const { id } = await call('POST', '/v1/operations', {
      kind: 'redrive',
      filter,
      asOf: preview.asOf,
      reason: 'The template is fixed.',
    })
    const outcome = await until(
      'what became of them',
      () => call('GET', `/v1/operations/${id}/outcome`),
      ({ delivered, failed }) => delivered + failed === 4,
      20_000,
    )
    expect(outcome).toEqual({ delivered: 3, waiting: 0, failed: 1, gone: 0, isComplete: true })
    const { data } = await call('GET', `/v1/audit?subject=${id}&action=operation.created`)
    expect(data[0].detail.reason).toBe('The template is fixed.')
  })
})

describe('replays', () => {
  test('are listed by their kind, with their outcome', async () => {
    receiver.behave(answer(200))
    const range = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() }
    const dry = await call('POST', '/v1/replays', {
      ...range,
      endpoint: 'erp',
      state: 'succeeded',
      dryRun: true,
    })
    expect(dry).toMatchObject({ count: 4, breakdown: null })
    const { id } = await call('POST', '/v1/replays', {
      ...range,
      endpoint: 'erp',
      state: 'succeeded',
      reason: 'Lost by them.',
    })
    await until(
      'the replay to have arrived',
      () => call('GET', `/v1/operations/${id}/outcome`),
      ({ delivered }) => delivered === 4,
      20_000,
    )
    const { data } = await call('GET', '/v1/operations?kind=replay')
    expect(data.map(({ id: one }: { id: string }) => one)).toEqual([id])
    expect((await call('GET', `/v1/audit?subject=${id}`)).data.at(-1).detail.reason).toBe('Lost by them.')
  })
})
