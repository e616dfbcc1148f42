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
  replayOf: z.string().nullable().meta({ description: 'The message that this one replays.' }),
  endpoint: z.string().nullable().meta({ description: 'Null if the endpoint has been deleted.' }),
  route: z.string().nullable(),
  eventType: z.string().nullable(),
  tenant: z.string().nullable(),
  correlationId: z.string().nullable(),
  state: z.enum(states).meta({
    description:
      '`in_flight` is returned as `pending`: only the node that owns the endpoint knows what is in flight. The health of an endpoint has that number.',
  }),
  attempt: z.int().meta({ description: 'Number of attempts made.' }),
  nextAttemptAt: timestamp.nullable(),
  expiresAt: timestamp.nullable(),
  priority: z.int().nullable(),
  criticality: criticality
    .nullable()
    .meta({ description: 'Null after the end of a delivery whose route or event type decided it.' }),
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
    summary: 'List deliveries, newest or next attempt first',
    permission: 'read',
    query: z.strictObject({
      ...tracePage,
      ...messageFilter,
      ...failureFilter,
      statusCode: failureFilter.statusCode.meta({ description: 'Of any of its attempts.' }),
      errorCode: failureFilter.errorCode.meta({
        description: 'Of any of its attempts, or of its dead letter. So is `error`.',
      }),
      ...timeFilter,
      state: field.oneOf(...states).optional(),
      messageId: field.text(64).optional(),
      sort: field.oneOf('newest', 'next_attempt').optional().meta({
        description:
          '`newest`, or `next_attempt`: pending deliveries that wait for a time, the soonest next attempt first. One that is ready has no such time and is left out.',
      }),
    }),
    result: listOf(deliveryShape),
    errors: ['invalid_filter'],
  }),
  get: defineOperation({
    id: 'getDelivery',
    method: 'GET',
    path: '/v1/deliveries/{id}',
    tag,
    summary: 'Get a delivery with all attempts',
    permission: 'read',
    params: deliveryParams,
    result: wholeDelivery,
    errors: ['delivery_not_found'],
  }),
  why: defineOperation({
    id: 'explainDelivery',
    method: 'GET',
    path: '/v1/deliveries/{id}/why',
    tag,
    summary: 'Explain why a delivery is not delivered yet',
    permission: 'read',
    params: deliveryParams,
    result: z
      .object({
        sentence: z.string(),
        code: z
          .string()
          .meta({ description: 'Machine-readable: `circuit_open`, `behind_key`, `due_later` …' }),
        until: timestamp.nullable().meta({
          description:
            'When it continues without intervention, if known: the next probe, or the end of a hold.',
        }),
        orderingKey: z
          .object({
            key: z.string(),
            ahead: z.int().meta({ description: 'Number of deliveries before it; 1000 means 1000 or more.' }),
            behind: z
              .int()
              .meta({ description: 'Number of deliveries that wait for it; 1000 means 1000 or more.' }),
            first: z
              .string()
              .nullable()
              .meta({ description: 'The delivery at the head of its ordering key, if it is another one.' }),
          })
          .nullable(),
        tries: z.object({ used: z.int(), allowed: z.int() }).nullable().meta({
          description: 'Probes and throttled attempts do not count. Null when the delivery has ended.',
        }),
        givesUpAt: timestamp
          .nullable()
          .meta({ description: 'The latest time at which it becomes a dead letter; pauses postpone it.' }),
        owner: z
          .object({ node: z.string().nullable(), shard: z.int(), isAlive: z.boolean() })
          .nullable()
          .meta({ description: 'The node that delivers to this endpoint.' }),
      })
      .meta({ id: 'DeliveryExplanation' }),
    errors: ['delivery_not_found'],
  }),
  retry: defineOperation({
    id: 'retryDelivery',
    method: 'POST',
    path: '/v1/deliveries/{id}/retry',
    tag,
    summary: 'Make a delivery due now',
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
    summary: 'Cancel a delivery',
    description:
      'The delivery stays visible as cancelled. A request that is already in flight may still arrive.',
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
