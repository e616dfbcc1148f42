import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { RouteInput } from '../../../src/transforms/route-types.ts'
import { Rig } from '../../support/engine/rig.ts'

/** Filters with what they mean, written a second time: PostgreSQL must agree. */
const filters: readonly [string, (payload: Sample) => boolean][] = [
  ['$.amount > 100', ({ amount }) => typeof amount === 'number' && amount > 100],
  ['strict $.amount > 100', ({ amount }) => typeof amount === 'number' && amount > 100],
  [
    '$.amount > 100 && $.country == "NL"',
    ({ amount, country }) => typeof amount === 'number' && amount > 100 && country === 'NL',
  ],
  ['exists($.country)', ({ country }) => country !== undefined],
  ['!($.country == "NL")', ({ country }) => country !== 'NL'],
  ['$.country like_regex "^N" flag "i"', ({ country }) => typeof country === 'string' && /^n/i.test(country)],
]

interface Sample {
  readonly amount?: number | string
  readonly country?: string
}

const segment = fc.constantFrom('a', 'b', 'order', 'x_y', 'x-y')
const eventType = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
const pattern = fc
  .array(fc.oneof(segment, fc.constantFrom('*', '**')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('.'))
const tenant = fc.option(fc.constantFrom('acme', 'globex'), { nil: null })
const transforms: readonly RouteInput['transform'][] = [
  null,
  { type: 'none' },
  { type: 'template', template: { v: '{{ $ }}' } },
]
const criticalities = ['best_effort', 'standard', 'critical'] as const

const route = fc.record({
  eventType: pattern,
  tenant,
  filter: fc.option(fc.nat(filters.length - 1), { nil: null, freq: 2 }),
  endpoint: fc.nat(2),
  transform: fc.nat(transforms.length - 1),
  criticality: fc.option(fc.constantFrom(...criticalities), { nil: null }),
  enabled: fc.boolean(),
})
const event = fc.record({
  type: eventType,
  tenant,
  payload: fc.record(
    {
      amount: fc.oneof(fc.integer({ min: 90, max: 110 }), fc.constant('200')),
      country: fc.constantFrom('NL', 'nl', 'DE'),
    },
    { requiredKeys: [] },
  ),
})

interface Model {
  readonly lane: number
  readonly isShaped: boolean
  readonly criticality: number
}

describe('fan-out', () => {
  let rig: Rig
  let holdfast: Holdfast
  const endpoints = ['model-0', 'model-1', 'model-2']

  beforeAll(async () => {
    rig = await Rig.create()
    holdfast = rig.client()
    for (const name of endpoints) await holdfast.endpoints.create({ name, transport: 'function' })
  })
  afterAll(() => rig.stop())

  it('equals a naive model, whatever the routes and events', async () => {
    const lanes = await Promise.all(endpoints.map((name) => rig.laneId(name)))
    await fc.assert(
      fc.asyncProperty(
        fc.array(route, { maxLength: 12 }),
        fc.array(event, { minLength: 1, maxLength: 12 }),
        async (routes, events) => {
          await rig.rows(
            'truncate holdfast_internal.routes, holdfast_internal.deliveries, holdfast_internal.messages cascade',
          )
          for (const [index, { filter, endpoint, transform, ...rest }] of routes.entries()) {
            await holdfast.routes.create({
              ...rest,
              name: `route-${index}`,
              filter: filter === null ? null : filters[filter]![0],
              endpoint: endpoints[endpoint]!,
              transform: transforms[transform]!,
            })
          }
          const expected = events.map(({ type, tenant: eventTenant, payload }) => {
            const model = new Map<string, Model>()
            for (const each of routes) {
              const fits =
                each.enabled &&
                each.tenant === eventTenant &&
                naivePattern(each.eventType).test(type) &&
                (each.filter === null || filters[each.filter]![1](payload))
              if (!fits) continue
              const isShaped = each.transform === 2
              const key = `${each.endpoint} ${isShaped}`
              const criticality = criticalities.indexOf(each.criticality ?? 'standard')
              model.set(key, {
                lane: lanes[each.endpoint]!,
                isShaped,
                criticality: Math.max(criticality, model.get(key)?.criticality ?? 0),
              })
            }
            return [...model.values()].sort(byLane)
          })
          // As SQL, in one batch.
          const ids = await rig.rows<{ id: string; number: string }>(
            `select id, holdfast.parse_id('msg', id)::text as number from holdfast.publish_batch($1::jsonb) as id`,
            [
              JSON.stringify(
                events.map(({ tenant: each, ...rest }) => ({
                  ...rest,
                  ...(each !== null && { tenant: each }),
                })),
              ),
            ],
          )
          const rows = await rig.rows<Model & { message: string; id: string }>(
            `select owed.message_id::text as message, owed.id::text, owed.lane_id as lane, owed.criticality,
                    coalesce(route.transform ->> 'type' = 'template', false) as "isShaped"
             from holdfast_internal.deliveries as owed join holdfast_internal.routes as route on route.id = owed.route_id`,
          )
          const found = ids.map(({ number }) =>
            rows
              .filter(({ message }) => message === number)
              .map(({ lane, criticality, isShaped }) => ({ lane, isShaped, criticality }))
              .sort(byLane),
          )
          expect(found).toEqual(expected)
          // A body once, marked when nobody wants it; a message and its first delivery share a number; ids follow the batch.
          const messages = await rig.rows<{ id: string; is_unrouted: boolean }>(
            'select id::text, is_unrouted from holdfast_internal.messages order by id',
          )
          expect(messages.map(({ id }) => id)).toEqual(ids.map(({ number }) => number))
          expect(messages.map(({ is_unrouted }) => is_unrouted)).toEqual(
            expected.map((model) => model.length === 0),
          )
          for (const [index, { number }] of ids.entries()) {
            const own = rows.filter(({ message }) => message === number).map(({ id }) => BigInt(id))
            if (own.length === 0) continue
            expect(own).toContain(BigInt(number))
            expect(own.every((id) => id >= BigInt(number))).toBe(true)
            const next = ids[index + 1]
            if (next !== undefined) expect(own.every((id) => id < BigInt(next.number))).toBe(true)
          }
        },
      ),
      { numRuns: 40 },
    )
  }, 120_000)

  it('finds events without a route by their index', async () => {
    await rig.rows(
      'truncate holdfast_internal.routes, holdfast_internal.deliveries, holdfast_internal.messages cascade',
    )
    await holdfast.routes.create({ name: 'wanted', eventType: 'wanted', endpoint: 'model-0' })
    await holdfast.publishBatch(Array.from({ length: 200 }, () => ({ type: 'wanted', payload: 1 })))
    const lost = await holdfast.publish('unheard.of', { nobody: true })
    expect(lost).toMatchObject({ deliveries: 0, held: 0 })
    const client = await rig.database.pool.connect()
    try {
      await client.query('begin')
      await client.query('set local enable_seqscan = off')
      const question = `select holdfast.format_id('msg', id) as id, type from holdfast_internal.messages where is_unrouted order by id`
      const { rows: plan } = await client.query(`explain ${question}`)
      expect(JSON.stringify(plan)).toMatch(/unrouted|is_unrouted_idx|_id_idx/)
      expect(JSON.stringify(plan)).not.toMatch(/Seq Scan/)
      expect((await client.query(question)).rows).toEqual([{ id: lost.id, type: 'unheard.of' }])
      await client.query('rollback')
    } finally {
      client.release()
    }
  })

  it('keeps two ways to one endpoint apart by the id that receivers see', async () => {
    await rig.rows(
      'truncate holdfast_internal.routes, holdfast_internal.deliveries, holdfast_internal.messages cascade',
    )
    for (const [name, transform] of [
      ['as-it-is', null],
      ['shaped', { type: 'template', template: { v: '{{ $ }}' } }],
      ['again', { type: 'none' }],
    ] as const) {
      await holdfast.routes.create({ name, eventType: 'twice', endpoint: 'model-1', transform })
    }
    expect(await holdfast.publish('twice', 1)).toMatchObject({ deliveries: 2 })
    expect(
      await rig.rows(
        `select variant, route.name from holdfast_internal.deliveries join holdfast_internal.routes as route on route.id = route_id order by variant`,
      ),
    ).toEqual([
      { variant: 0, name: 'as-it-is' },
      { variant: 1, name: 'shaped' },
    ])
  })

  it('runs as many statements for a hundred routes as for one', async () => {
    const client = await rig.database.pool.connect()
    let statements = 0
    // Every statement is reported to the client, also those inside functions.
    client.on('notice', ({ message }) => {
      if (message?.includes('Query Text:') === true) statements += 1
    })
    const statementsToPublish = async (): Promise<number> => {
      // The first one after a while also moves the ids on.
      await holdfast.publish('counted', { amount: 1 }, { client })
      statements = 0
      await holdfast.publish('counted', { amount: 1 }, { client })
      return statements
    }
    const addEndpoints = async (from: number, to: number) => {
      for (let index = from; index < to; index += 1) {
        await holdfast.endpoints.create({
          name: `counted-${index}`,
          transport: 'function',
          eventTypes: ['counted'],
        })
      }
    }
    try {
      await addEndpoints(0, 1)
      await client.query(`load 'auto_explain'`)
      await client.query(
        `select set_config(name, value, false) from (values ('auto_explain.log_min_duration', '0'),
           ('auto_explain.log_nested_statements', 'on'), ('client_min_messages', 'log')) as setting (name, value)`,
      )
      const throughOne = await statementsToPublish()
      await addEndpoints(1, 100)
      // On a slow machine that took so long that the ids have to follow the clock first.
      await statementsToPublish()
      const owedBefore = await rig.count('deliveries')
      expect(throughOne).toBeGreaterThan(1)
      expect(await statementsToPublish()).toBe(throughOne)
      expect((await rig.count('deliveries')) - owedBefore).toBe(200)
    } finally {
      client.release(true)
    }
  })
})

function naivePattern(text: string): RegExp {
  const parts = text.split('.').map((part) => (part === '**' ? '.+' : part === '*' ? '[^.]+' : part))
  return new RegExp(`^${parts.join('[.]')}$`)
}

function byLane(one: Model, other: Model): number {
  return one.lane - other.lane || Number(one.isShaped) - Number(other.isShaped)
}
