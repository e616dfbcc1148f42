import { z } from 'zod'
import { field } from '../core/field.ts'
import { attemptShape, criticality } from './attempts.ts'
import { defineOperation } from './define-operation.ts'
import { failureFilter, messageFilter, timeFilter, tracePage } from './filters.ts'
import { listOf, timestamp } from './shapes.ts'

const tag = 'Deliveries'

export const deliveryParams = z.object({
  id: z
    .string()
    .max(64)
    .meta({ description: 'The delivery.', examples: ['dlv_0jm3x1c8000'] }),
})

const states = [
  'pending',
  'in_flight',
  'succeeded',
  'dead',
  'expired',
  'cancelled',
  'dropped',
  'skipped',
] as const

const summary = {
  id: z.string(),
  messageId: z.string(),
  replayOf: z.string().nullable().meta({ description: 'The message that this is a replay of.' }),
  endpoint: z.string().nullable().meta({ description: 'Null when it was deleted since.' }),
  route: z.string().nullable(),
  eventType: z.string().nullable(),
  tenant: z.string().nullable(),
  correlationId: z.string().nullable(),
  state: z.enum(states).meta({
    description:
      '`in_flight` is shown as `pending`: what is out at this moment only the node that owns the endpoint knows, and writes nothing down for it. The health of an endpoint says how many are.',
  }),
  attempt: z.int().meta({ description: 'Attempts made.' }),
  nextAttemptAt: timestamp.nullable(),
  expiresAt: timestamp.nullable(),
  priority: z.int().nullable(),
  criticality: criticality.nullable(),
  orderingKey: z.string().nullable(),
  deadLetterId: z.string().nullable(),
  lastAttemptAt: timestamp.nullable(),
  statusCode: z.int().nullable(),
  errorCode: z.string().nullable(),
  error: z.string().nullable(),
}

export const deliveryShape = z.object(summary).meta({ id: 'Delivery' })
export const wholeDelivery = z
  .object({ ...summary, attempts: z.array(attemptShape) })
  .meta({ id: 'DeliveryDetail' })

export const deliveryOperations = {
  list: defineOperation({
    id: 'listDeliveries',
    method: 'GET',
    path: '/v1/deliveries',
    tag,
    summary: 'Look up deliveries, the newest first',
    permission: 'read',
    query: z.strictObject({
      ...tracePage,
      ...messageFilter,
      ...failureFilter,
      ...timeFilter,
      state: field.oneOf(...states).optional(),
      messageId: field.text(64).optional(),
    }),
    result: listOf(deliveryShape),
    errors: ['invalid_filter'],
  }),
  get: defineOperation({
    id: 'getDelivery',
    method: 'GET',
    path: '/v1/deliveries/{id}',
    tag,
    summary: 'A delivery with every attempt',
    permission: 'read',
    params: deliveryParams,
    result: wholeDelivery,
    errors: ['delivery_not_found'],
  }),
  retry: defineOperation({
    id: 'retryDelivery',
    method: 'POST',
    path: '/v1/deliveries/{id}/retry',
    tag,
    summary: 'Make it due now instead of waiting for its time',
    permission: 'operate',
    params: deliveryParams,
    result: wholeDelivery,
    errors: ['delivery_not_found', 'delivery_settled'],
  }),
  cancel: defineOperation({
    id: 'cancelDelivery',
    method: 'POST',
    path: '/v1/deliveries/{id}/cancel',
    tag,
    summary: 'End it, visibly',
    description: 'A request that is out at this moment may still arrive.',
    permission: 'operate',
    params: deliveryParams,
    body: z
      .strictObject({ reason: field.text(1000).optional() })
      .meta({ examples: [{ reason: 'Sent by mistake.' }] }),
    isBodyOptional: true,
    result: wholeDelivery,
    errors: ['delivery_not_found', 'delivery_settled'],
  }),
}
