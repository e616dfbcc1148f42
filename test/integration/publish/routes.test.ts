import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HoldfastError } from '../../../src/core/errors.ts'
import type { Problem } from '../../../src/core/problem.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { RouteInput } from '../../../src/transforms/route-types.ts'
import { Rig } from '../../support/engine/rig.ts'

let rig: Rig
let holdfast: Holdfast

beforeAll(async () => {
  rig = await Rig.create()
  holdfast = rig.client()
  await holdfast.endpoints.create({ name: 'crm', transport: 'function' })
})
afterAll(() => rig.stop())

async function refusal(work: Promise<unknown>): Promise<HoldfastError> {
  return work.then(
    () => Promise.reject(new Error('it was not refused')),
    (reason: HoldfastError) => reason,
  )
}

let lastRoute = 0
function draft(changes: Partial<RouteInput>): RouteInput {
  lastRoute += 1
  return { name: `route-${lastRoute}`, eventType: 'order.*', endpoint: 'crm', ...changes }
}

describe('creating a route', () => {
  it('keeps everything that was given, and changes what an update names', async () => {
    const input = draft({
      filter: '$.amount > 100',
      transform: { type: 'template', template: { id: '{{ id }}' } },
      tenant: 'acme',
      criticality: 'critical',
      enabled: false,
    })
    expect(await holdfast.routes.create(input)).toMatchObject({ ...input, isShorthand: false })
    expect(await holdfast.routes.update(input.name, { enabled: true, filter: null })).toMatchObject({
      ...input,
      enabled: true,
      filter: null,
    })
    expect((await holdfast.routes.list()).map(({ name }) => name)).toContain(input.name)
    expect((await refusal(holdfast.routes.create(input))).code).toBe('route_exists')
    expect(await holdfast.routes.delete(input.name)).toBe(0)
    for (const work of [
      () => holdfast.routes.get(input.name),
      () => holdfast.routes.update(input.name, {}),
      () => holdfast.routes.delete(input.name),
    ]) {
      expect((await refusal(work())).code).toBe('route_not_found')
    }
  })

  it('names everything that is wrong with it at once, with the places', async () => {
    const error = await refusal(
      holdfast.routes.create(
        draft({
          eventType: 'order.*x',
          filter: '$.amount > && 100',
          transform: { type: 'template', template: '{"a": {{ a.. }} }' },
        }),
      ),
    )
    expect(error).toMatchObject({ code: 'invalid_route', status: 422 })
    expect(error.details['problems']).toEqual([
      { path: 'eventType', message: expect.stringMatching(/at position 6/) },
      { path: 'transform.template', message: expect.stringMatching(/at position 11/) },
      { path: 'filter', message: expect.stringMatching(/"&&".*at position 11/) },
    ])
  })

  it.each<[string, RegExp]>([
    ['$.a >', /at end.*at position 5/],
    ['$.a == 1 || $.b == == 1', /at or near "==".*at position 19/],
    [' ', /is blank: write a condition/],
    ['$.a', /is a path, not a condition/],
    ['$.a ? (@ > 1)', /is a path, not a condition/],
    ['42', /is a path, not a condition/],
    ['$.a like_regex "("', /parentheses/],
    ['$.a like_regex "a" flag "x"', /flag/],
    ['$.a == $limit', /variable.*at position 7/],
    ['$.a > 1 && $.b == $limit', /variable.*at position 18/],
    ['$.a == "$" && $.b == $"x y"', /variable/],
    ['$.a > 1e999999999', /overflow/],
    ['amount > 100', /at or near "amount".*at position 0|syntax error/],
    ["$.a > 1'; drop table holdfast_internal.routes; --", /not a valid/],
  ])('refuses the filter %s', async (filter, message) => {
    const error = await refusal(holdfast.routes.create(draft({ filter })))
    expect(error.code).toBe('invalid_route')
    expect((error.details['problems'] as Problem[])[0]).toMatchObject({ path: 'filter' })
    expect(error.message).toMatch(message)
  })

  it.each([
    'strict $.a.b > 1',
    '$.cost == "$"',
    '$."$x" == "y$"',
    'true',
    '$.a / 0 > 1',
    'exists($.a[*] ? (@.b > 1))',
  ])('takes the filter %s', async (filter) => {
    await holdfast.routes.create(draft({ filter }))
  })

  it('refuses an endpoint that does not exist', async () => {
    expect((await refusal(holdfast.routes.create(draft({ endpoint: 'nobody' })))).code).toBe(
      'endpoint_not_found',
    )
    const { name } = await holdfast.routes.create(draft({}))
    expect((await refusal(holdfast.routes.update(name, { endpoint: 'nobody' }))).code).toBe(
      'endpoint_not_found',
    )
  })
})

describe('a filter', () => {
  it('comparing times with and without a zone does not make a publish fail', async () => {
    await holdfast.routes.create(
      draft({ eventType: 'timed', filter: '$.at.datetime() > "2020-01-01".datetime()' }),
    )
    expect(await holdfast.publish('timed', { at: '2021-01-01T00:00:00+00:00' })).toMatchObject({
      deliveries: 1,
    })
    expect(await holdfast.publish('timed', { at: '2019-01-01T00:00:00+00:00' })).toMatchObject({
      deliveries: 0,
    })
    expect(await holdfast.publish('timed', { at: 'noon' })).toMatchObject({ deliveries: 0 })
  })

  it.each<[string, unknown, number]>([
    ['$.amount > 100', {}, 0],
    ['$.amount > 100', { amount: '200' }, 0],
    ['$.amount > 100', { amount: null }, 0],
    ['$.amount > 100', [{ amount: 200 }], 1],
    ['strict $.amount > 100', [{ amount: 200 }], 0],
    ['$.amount > 100', 'text', 0],
    ['$.amounts > 100', { amounts: [1, 200] }, 1],
    ['strict $.amounts > 100', { amounts: [1, 200] }, 0],
    ['$.a.b.c == null', { a: {} }, 0],
  ])('%s on %j leads to %i deliveries', async (filter, payload, deliveries) => {
    const { name, eventType } = await holdfast.routes.create(
      draft({ eventType: `filtered.n${lastRoute}`, filter }),
    )
    expect(await holdfast.publish(eventType, payload)).toMatchObject({ deliveries })
    await holdfast.routes.delete(name, { force: true })
  })
})

describe('a tenant', () => {
  it('gets its own events only, and no other tenant does', async () => {
    for (const tenant of [null, 'acme', 'globex']) {
      await holdfast.routes.create(
        draft({ eventType: 'tenanted', tenant, transform: { type: 'template', template: { tenant } } }),
      )
    }
    const routesOf = async (id: string) =>
      rig.rows(
        `select route.tenant from holdfast_internal.deliveries as owed join holdfast_internal.routes as route on route.id = owed.route_id
         where message_id = holdfast.parse_id('msg', $1)`,
        [id],
      )
    expect(await routesOf((await holdfast.publish('tenanted', 1)).id)).toEqual([{ tenant: null }])
    expect(await routesOf((await holdfast.publish('tenanted', 1, { tenant: 'acme' })).id)).toEqual([
      { tenant: 'acme' },
    ])
    expect(await routesOf((await holdfast.publish('tenanted', 1, { tenant: 'ACME' })).id)).toEqual([])
  })
})

describe('eventTypes of an endpoint', () => {
  const shorthand = (name: string) =>
    rig.rows(
      `select event_type, enabled, route.tenant from holdfast_internal.routes as route join holdfast_internal.endpoints as endpoint on endpoint.id = lane_id
       where endpoint.name = $1 order by route.id`,
      [name],
    )

  it('are routes that come, change and go with it', async () => {
    const created = await holdfast.endpoints.create({
      name: 'short',
      transport: 'function',
      tenant: 'acme',
      eventTypes: ['purchase.*', 'purchase.any', '**', 'Purchase.Created', 'purchase.created', 'purchase.*'],
    })
    expect(created['eventTypes']).toEqual([
      'purchase.*',
      'purchase.any',
      '**',
      'Purchase.Created',
      'purchase.created',
    ])
    expect(await holdfast.publish('purchase.created', 1, { tenant: 'acme' })).toMatchObject({ deliveries: 1 })
    expect(await holdfast.publish('purchase.created', 1)).toMatchObject({ deliveries: 0 })

    const updated = await holdfast.endpoints.update('short', { eventTypes: ['invoice.*'], tenant: 'globex' })
    expect(updated['eventTypes']).toEqual(['invoice.*'])
    expect((await holdfast.endpoints.get('short'))['eventTypes']).toEqual(['invoice.*'])
    expect(await holdfast.publish('purchase.created', 1, { tenant: 'globex' })).toMatchObject({
      deliveries: 0,
    })
    expect(await holdfast.publish('invoice.sent', 1, { tenant: 'globex' })).toMatchObject({ deliveries: 1 })

    // Back again, and an update of something else keeps them.
    await holdfast.endpoints.update('short', { eventTypes: ['purchase.*'] })
    await holdfast.endpoints.update('short', { limits: { concurrency: 3 } })
    expect((await holdfast.endpoints.get('short'))['eventTypes']).toEqual(['purchase.*'])
    expect(await holdfast.publish('purchase.created', 1, { tenant: 'globex' })).toMatchObject({
      deliveries: 1,
    })

    await holdfast.endpoints.delete('short', { force: true })
    expect(await shorthand('short')).toEqual([])
  })

  it('that are removed still deliver what is pending, and are deleted afterwards', async () => {
    await holdfast.endpoints.create({ name: 'dropping', transport: 'function', eventTypes: ['dropped.type'] })
    await holdfast.publish('dropped.type', 1)
    await holdfast.endpoints.update('dropping', { eventTypes: [] })
    await holdfast.endpoints.update('dropping', { contact: 'ada@example.com' })
    expect(await shorthand('dropping')).toEqual([
      { event_type: 'dropped.type', enabled: false, tenant: null },
    ])
    await rig.rows('delete from holdfast_internal.deliveries where lane_id = $1', [
      await rig.laneId('dropping'),
    ])
    await holdfast.endpoints.update('dropping', { contact: null })
    expect(await shorthand('dropping')).toEqual([])
  })

  it('with invalid patterns are rejected with their position, and nothing is created', async () => {
    const error = await refusal(
      holdfast.endpoints.create({ name: 'never', transport: 'function', eventTypes: ['order.*', 'or..der'] }),
    )
    expect(error).toMatchObject({ code: 'invalid_endpoint' })
    expect(error.message).toMatch(/eventTypes\[1\].*at position 3/)
    expect((await refusal(holdfast.endpoints.get('never'))).code).toBe('endpoint_not_found')
  })

  it('never take over a route that was created by a person', async () => {
    await holdfast.endpoints.create({ name: 'taken', transport: 'function' })
    const own = await holdfast.routes.create(
      draft({ name: 'taken:order.:any', eventType: 'mine', endpoint: 'crm', tenant: 'acme' }),
    )
    const error = await refusal(
      holdfast.endpoints.update('taken', { contact: 'ada@example.com', eventTypes: ['order.*'] }),
    )
    expect(error.code).toBe('route_exists')
    expect(await holdfast.routes.get(own.name)).toMatchObject({
      tenant: 'acme',
      endpoint: 'crm',
      eventType: 'mine',
    })
    expect(await holdfast.endpoints.get('taken')).toMatchObject({ contact: null, eventTypes: [] })
    const created = await refusal(
      holdfast.endpoints.create({ name: 'taken', transport: 'function', eventTypes: ['order.*'] }),
    )
    expect(created.code).toBe('endpoint_exists')
  })
})

describe('deleting', () => {
  it('a route with owed deliveries is refused unless forced, and then they end as cancelled', async () => {
    const route = await holdfast.routes.create(draft({ eventType: 'owed.one' }))
    const { id } = await holdfast.publish('owed.one', 1)
    const error = await refusal(holdfast.routes.delete(route.name))
    expect(error).toMatchObject({ code: 'still_owed', status: 409 })
    expect(error.message).toMatch(/force/)
    expect(await holdfast.routes.delete(route.name, { force: true })).toBe(1)
    expect(
      await rig.rows(
        `select outcome, error_code, error from holdfast_internal.attempts where message_id = holdfast.parse_id('msg', $1)`,
        [id],
      ),
    ).toEqual([{ outcome: 11, error_code: 'cancelled', error: `Route "${route.name}" was deleted.` }])
    expect(
      await rig.value(
        `select detail ->> 'cancelled' from holdfast_internal.audit_log where action = 'route.deleted' order by id desc limit 1`,
      ),
    ).toBe('1')
  })

  it('a route counts what it owes to an endpoint that it led to before', async () => {
    await holdfast.endpoints.create({ name: 'former', transport: 'function' })
    const route = await holdfast.routes.create(draft({ eventType: 'moved', endpoint: 'former' }))
    await holdfast.publish('moved', 1)
    await holdfast.routes.update(route.name, { endpoint: 'crm' })
    expect((await refusal(holdfast.routes.delete(route.name))).code).toBe('still_owed')
    expect(await holdfast.routes.delete(route.name, { force: true })).toBe(1)
    expect(await rig.owed('former')).toBe(0)
  })

  it('an endpoint with routes or owed deliveries is refused unless forced', async () => {
    await holdfast.endpoints.create({ name: 'leaving', transport: 'function', eventTypes: ['leaving'] })
    const route = await holdfast.routes.create(draft({ endpoint: 'leaving' }))
    expect((await refusal(holdfast.endpoints.delete('leaving'))).message).toMatch(/still has routes/)
    await holdfast.routes.delete(route.name)
    const { id } = await holdfast.publish('leaving', 1)
    expect((await refusal(holdfast.endpoints.delete('leaving'))).code).toBe('still_owed')
    expect(await holdfast.endpoints.delete('leaving', { force: true })).toBe(1)
    expect(
      await rig.value(
        `select outcome from holdfast_internal.attempts where message_id = holdfast.parse_id('msg', $1)`,
        [id],
      ),
    ).toBe(11)
    expect((await refusal(holdfast.endpoints.delete('leaving'))).code).toBe('endpoint_not_found')
  })
})
