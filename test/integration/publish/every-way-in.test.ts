import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseId } from '../../../src/core/delivery/ids.ts'
import type { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Rig } from '../../support/engine/rig.ts'
import { type Publish, waysIn } from './ways-in.ts'

/** Straight to one endpoint; the type travels as an option. */
const waysToSend: readonly [string, (rig: Rig, holdfast: Holdfast) => Publish][] = [
  [
    'SDK send',
    (_, holdfast) =>
      async (type, payload, options = {}) =>
        (await holdfast.send('crm', payload, { type, ...options })).id,
  ],
  [
    'SDK sendBatch',
    (_, holdfast) =>
      async (type, payload, options = {}) =>
        (await holdfast.sendBatch('crm', [{ payload, type, ...options }]))[0]!.id,
  ],
  [
    'SQL send',
    (rig) =>
      async (type, payload, options = {}) =>
        rig.value<string>(`select holdfast.send('crm', $1::jsonb, $2::jsonb)`, [
          JSON.stringify(payload),
          JSON.stringify({ type, ...options }),
        ]),
  ],
  [
    'SQL send_batch',
    (rig) =>
      async (type, payload, options = {}) =>
        rig.value<string>(`select holdfast.send_batch('crm', array[$1::jsonb], $2::jsonb)`, [
          JSON.stringify(payload),
          JSON.stringify({ type, ...options }),
        ]),
  ],
]

describe('every way in stores all that was said about a message', () => {
  let rig: Rig
  let holdfast: Holdfast

  beforeAll(async () => {
    rig = await Rig.create()
    holdfast = rig.client()
    await holdfast.endpoints.create({ name: 'crm', transport: 'function' })
    await holdfast.routes.create({
      name: 'acme-to-crm',
      eventType: 'order.*',
      endpoint: 'crm',
      tenant: 'acme',
    })
  })
  afterAll(() => rig.stop())

  it.each([...waysIn, ...waysToSend])('%s', async (way, open) => {
    const send = open(rig, holdfast)
    const options = {
      tenant: 'acme',
      orderingKey: 'customer-7',
      priority: 2,
      deliverAt: '2030-01-31T09:00:00.000Z',
      expiresAt: '2031-01-31T09:00:00.000Z',
      criticality: 'critical',
      correlationId: 'c-1',
      headers: { 'x-region': 'é' },
      metadata: { source: { shop: 1 } },
      idempotencyKey: way,
    }
    const id = await send('order.created', { a: 1 }, options)
    expect(await send('order.created', { a: 1 }, options)).toBe(id)
    await expect(send('order.created', { a: 2 }, options)).rejects.toMatchObject({
      code: way.startsWith('SDK') ? 'idempotency_conflict' : 'HF004',
    })
    const parsed = parseId('msg', id)
    const rows = await rig.rows(
      `select type, tenant, correlation_id, headers, metadata, message.criticality, owed.criticality as owed_criticality, priority,
              message.ordering_key, owed.ordering_key as owed_ordering_key, to_char(due_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as due,
              to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as expires
       from holdfast_internal.messages as message join holdfast_internal.deliveries as owed on owed.message_id = message.id
       where message.id = $1`,
      [parsed],
    )
    expect(rows).toEqual([
      {
        type: 'order.created',
        tenant: 'acme',
        correlation_id: 'c-1',
        headers: { 'x-region': 'é' },
        metadata: { source: { shop: 1 } },
        criticality: 2,
        owed_criticality: 2,
        priority: 2,
        ordering_key: 'customer-7',
        owed_ordering_key: 'customer-7',
        due: '2030-01-31 09:00',
        expires: '2031-01-31 09:00',
      },
    ])
  })
})
