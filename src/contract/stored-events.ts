import { z } from 'zod'
import { field } from '../core/field.ts'
import { criticality } from './attempts.ts'
import { defineOperation } from './define-operation.ts'
import { wholeDelivery } from './deliveries.ts'
import { messageFilter, orderingKeyFilter, timeFilter, tracePage } from './filters.ts'
import { jsonObject, listOf, timestamp } from './shapes.ts'

const summary = {
  id: z.string(),
  type: z.string().nullable(),
  tenant: z.string().nullable(),
  correlationId: z.string().nullable(),
  orderingKey: z.string().nullable(),
  criticality,
  state: z.enum(['routed', 'unrouted']).meta({ description: '`unrouted`: no route matched.' }),
  sizeBytes: z.int(),
  createdAt: timestamp,
  erasedAt: timestamp
    .nullable()
    .meta({ description: 'When its payload was erased on request; the payload is null from then on.' }),
}

const eventId = z.object({
  id: z
    .string()
    .max(64)
    .meta({ description: 'The event.', examples: ['msg_0jm3x1c8000'] }),
})

export const storedMessage = z
  .object({
    ...summary,
    headers: z.record(z.string(), z.string()),
    metadata: jsonObject,
    payload: z.unknown(),
  })
  .meta({ id: 'StoredMessage' })

const eventFilter = {
  ...messageFilter,
  orderingKey: orderingKeyFilter,
  ...timeFilter,
  state: field.oneOf('unrouted', 'routed').optional(),
}

const event = z.object(summary).meta({ id: 'Event' })

export const storedEventOperations = {
  list: defineOperation({
    id: 'listEvents',
    method: 'GET',
    path: '/v1/events',
    tag: 'Events',
    summary: 'List events, newest first',
    permission: 'read',
    query: z.strictObject({
      ...tracePage,
      ...eventFilter,
    }),
    result: listOf(event),
    errors: ['invalid_filter'],
  }),
  search: defineOperation({
    id: 'searchEvents',
    method: 'GET',
    path: '/v1/events/search',
    tag: 'Events',
    summary: 'Search in payloads, newest first, one step at a time',
    description:
      'A step examines a few thousand events and takes at most about 100 ms. It returns how many it examined; continue with `nextCursor`, whether or not a match was found.',
    permission: 'read',
    query: z.strictObject({
      ...tracePage,
      ...eventFilter,
      path: field
        .text(500)
        .optional()
        .meta({ description: 'Path in the payload: `customer.vatId`, `items[0].sku`. Requires `equals`.' }),
      equals: z
        .string()
        .max(1000)
        .optional()
        .meta({ description: 'The value at `path`: a string, number or boolean, as text.' }),
      text: field
        .text(500)
        .optional()
        .meta({ description: 'Part of the JSON as it was published, case-sensitive.' }),
    }),
    result: listOf(event)
      .extend({
        scanned: z.int().meta({ description: 'Number of events examined by this step.' }),
        scannedTo: timestamp.nullable().meta({
          description:
            'When the last examined event was accepted: all newer ones have been examined. Null if all have been.',
        }),
        total: z.int().nullable().meta({
          description:
            'Approximate number of events accepted between `from` and `to`; null without `from`, or if no statistics exist for that time.',
        }),
      })
      .meta({ id: 'EventSearchStep' }),
    errors: ['invalid_filter'],
  }),
  get: defineOperation({
    id: 'getEvent',
    method: 'GET',
    path: '/v1/events/{id}',
    tag: 'Events',
    summary: 'Get an event with its deliveries and their attempts',
    permission: 'read',
    params: eventId,
    result: storedMessage.extend({ deliveries: z.array(wholeDelivery) }).meta({ id: 'EventDetail' }),
    errors: ['event_not_found'],
  }),
  erase: defineOperation({
    id: 'eraseEvent',
    method: 'POST',
    path: '/v1/events/{id}/erase',
    tag: 'Events',
    summary: "Erase an event's payload permanently",
    description:
      'Erases the body, headers, metadata, stored requests and responses, also in its dead letters (which are settled as `erased`). Rejected while a delivery is unfinished, unless forced: the delivery is then cancelled.',
    permission: 'administer',
    params: eventId,
    body: z
      .strictObject({
        reason: field.text(1000).meta({ description: 'Stored in the audit log.' }),
        force: field
          .flag()
          .optional()
          .meta({ description: 'Erase even if a delivery is unfinished; the delivery is cancelled.' }),
      })
      .meta({ examples: [{ reason: 'Erasure request 17' }] }),
    result: z
      .object({
        id: z.string(),
        cancelled: z.int().meta({ description: 'Number of unfinished deliveries that were cancelled.' }),
        deadLetters: z
          .int()
          .meta({ description: 'Number of open dead letters that were settled as `erased`.' }),
      })
      .meta({ id: 'Erasure' }),
    errors: ['event_not_found', 'still_owed'],
  }),
}
