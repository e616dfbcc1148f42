import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Rig } from '../../support/engine/rig.ts'
import { HttpReceiver } from '../../support/receivers/http-receiver.ts'

describe('a preview of a route', () => {
  let rig: Rig
  let holdfast: Holdfast
  let receiver: HttpReceiver

  beforeAll(async () => {
    rig = await Rig.create()
    holdfast = rig.client()
    receiver = await HttpReceiver.start()
    await holdfast.endpoints.create({
      name: 'crm',
      config: {
        url: `${receiver.url}?token=hunter2&shop=7`,
        headers: { authorization: 'Bearer hunter2', 'x-shop': 'main' },
      },
    })
    await holdfast.endpoints.create({ name: 'handler', transport: 'function' })
    await holdfast.endpoints.create({
      name: 'lake',
      config: { url: receiver.url },
      batch: { maxMessages: 100 },
    })
    await holdfast.routes.create({
      name: 'orders',
      eventType: 'order.*',
      tenant: 'acme',
      filter: '$.total > 100',
      endpoint: 'crm',
      transform: {
        type: 'template',
        template: { ref: '{{ id }}', region: '{{ $headers.x-region ?? "none" }}' },
      },
    })
  })
  afterAll(async () => {
    await rig.stop()
    await receiver.stop()
  })

  it('says that the event matches, and shows the request with its secrets redacted', async () => {
    const preview = await holdfast.routes.preview({
      route: 'orders',
      event: {
        type: 'order.created',
        payload: { id: 17, total: 250 },
        tenant: 'acme',
        headers: { 'x-region': 'eu' },
        correlationId: 'abc',
      },
    })
    expect(preview).toMatchObject({
      matches: true,
      isEnabled: true,
      matchesEventType: true,
      matchesTenant: true,
      matchesFilter: true,
      schemaFailures: [],
      error: null,
      rendered: { body: '{"ref":17,"region":"eu"}', contentType: 'application/json' },
      request: {
        method: 'POST',
        body: '{"ref":17,"region":"eu"}',
        headers: {
          authorization: '[redacted]',
          'content-type': 'application/json',
          'x-shop': '[redacted]',
          'x-region': 'eu',
          'x-correlation-id': 'abc',
          'holdfast-event-type': 'order.created',
          'holdfast-attempt': '1',
          'webhook-id': 'msg_00000000000',
        },
        isTruncated: false,
      },
    })
    expect(JSON.stringify(preview)).not.toContain('hunter2')
    expect(preview.request?.url).toBe(`${receiver.url}?token=%5Bredacted%5D&shop=%5Bredacted%5D`)
  })

  it('agrees with what is then really sent', async () => {
    const { holdfast: running } = await rig.start({ limits: { beatMs: 100 } })
    const event = {
      type: 'order.paid',
      payload: { id: 18, total: 101 },
      tenant: 'acme',
      headers: { 'x-region': 'us' },
    }
    const { request } = await holdfast.routes.preview({ route: 'orders', event })
    const { id } = await running.publish(event.type, event.payload, {
      tenant: 'acme',
      headers: event.headers,
    })
    const [sent] = await receiver.ledger.waitFor(1)
    expect(sent!.body).toBe(request!.body)
    const names = Object.keys(sent!.headers).filter(
      (name) => !['connection', 'content-length', 'host'].includes(name),
    )
    expect(Object.keys(request!.headers).sort()).toEqual(names.sort())
    expect(sent!.webhookId).toBe(id)
    await running.stop()
    receiver.ledger.clear()
  })

  it.each([
    ['the type', { type: 'invoice.created', tenant: 'acme' }, { matchesEventType: false }],
    ['the tenant', { tenant: 'globex' }, { matchesTenant: false }],
    ['the filter', { payload: { id: 1, total: 100 }, tenant: 'acme' }, { matchesFilter: false }],
    ['a filter on a missing field', { payload: { id: 1 }, tenant: 'acme' }, { matchesFilter: false }],
  ])('says when %s does not match, and renders all the same', async (_, changes, expected) => {
    const event = { type: 'order.created', payload: { id: 1, total: 101 }, ...changes }
    const preview = await holdfast.routes.preview({ route: 'orders', event })
    expect(preview).toMatchObject({
      matches: false,
      ...expected,
      rendered: { body: '{"ref":1,"region":"none"}' },
    })
  })

  it('takes a route that is not stored, and stores and sends nothing', async () => {
    const before = await rig.rows(
      'select (select count(*) from holdfast_internal.routes) as routes, (select count(*) from holdfast_internal.messages) as messages',
    )
    const preview = await holdfast.routes.preview({
      route: {
        eventType: '**',
        endpoint: 'crm',
        transform: { type: 'cloudevents', source: '/shop', mode: 'binary' },
      },
      event: { type: 'order.created', payload: { id: 1 } },
    })
    expect(preview.request?.headers).toMatchObject({ 'ce-type': 'order.created', 'ce-source': '/shop' })
    expect(preview.request?.body).toBe('{"id":1}')
    expect(
      await rig.rows(
        'select (select count(*) from holdfast_internal.routes) as routes, (select count(*) from holdfast_internal.messages) as messages',
      ),
    ).toEqual(before)
    expect(receiver.ledger.count).toBe(0)
  })

  it('shows the error of a transform with its place, and no request', async () => {
    const preview = await holdfast.routes.preview({
      route: 'orders',
      event: { type: 'order.created', payload: { total: 101 }, tenant: 'acme' },
    })
    expect(preview).toMatchObject({
      matches: true,
      rendered: null,
      request: null,
      error: { code: 'template_missing_value', message: expect.stringMatching(/id/) },
    })
  })

  it('shows the problem of a stored transform that is invalid', async () => {
    await holdfast.routes.create({ name: 'by-hand', eventType: 'by.hand', endpoint: 'crm' })
    await rig.rows(
      `update holdfast_internal.routes set transform = '{"type": "xslt"}' where name = 'by-hand'`,
    )
    const preview = await holdfast.routes.preview({
      route: 'by-hand',
      event: { type: 'by.hand', payload: 1 },
    })
    expect(preview).toMatchObject({
      matches: true,
      request: null,
      error: { code: 'transform_invalid', message: expect.stringMatching(/xslt/) },
    })
  })

  it('shows a batch of one for an endpoint that takes batches, and no request for a function', async () => {
    const lake = await holdfast.routes.preview({
      route: { eventType: '**', endpoint: 'lake' },
      event: { type: 'a', payload: { id: 1 }, headers: { 'x-own': '1' } },
    })
    expect(lake.request?.body).toBe('[{"id":1}]')
    expect(lake.request?.headers).not.toHaveProperty('x-own')
    const handler = await holdfast.routes.preview({
      route: { eventType: '**', endpoint: 'handler' },
      event: { type: 'a', payload: 1 },
    })
    expect(handler).toMatchObject({ matches: true, request: null, rendered: { body: '1' } })
  })

  it('shows where the payload breaks the schema of its type', async () => {
    await holdfast.eventTypes.put({ name: 'strict.type', schema: { required: ['id'] } })
    const { schemaFailures } = await holdfast.routes.preview({
      route: { eventType: '**', endpoint: 'handler' },
      event: { type: 'strict.type', payload: {} },
    })
    expect(schemaFailures).toMatchObject([{ path: 'id' }])
  })

  it('refuses what a route or an event can not be', async () => {
    const event = { type: 'a', payload: 1 }
    const code = (work: Promise<unknown>) => work.catch((error: { code: string }) => error.code)
    expect(await code(holdfast.routes.preview({ route: 'nobody', event }))).toBe('route_not_found')
    expect(
      await code(holdfast.routes.preview({ route: { eventType: 'a..b', endpoint: 'crm' }, event })),
    ).toBe('invalid_route')
    expect(
      await code(holdfast.routes.preview({ route: { eventType: '**', endpoint: 'nobody' }, event })),
    ).toBe('endpoint_not_found')
    expect(await code(holdfast.routes.preview({ route: 'orders', event: { ...event, type: 'a b' } }))).toBe(
      'invalid_options',
    )
    expect(
      await code(holdfast.routes.preview({ route: 'orders', event: { ...event, payload: undefined } })),
    ).toBe('invalid_payload')
  })
})
