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
  state: z.enum(['routed', 'unrouted']).meta({ description: '`unrouted`: nobody wanted it.' }),
  sizeBytes: z.int(),
  createdAt: timestamp,
  erasedAt: timestamp
    .nullable()
    .meta({ description: 'When its payload was removed on request; it is null since.' }),
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
    summary: 'Look up events, the newest first',
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
    summary: 'Look into payloads, the newest first, a step at a time',
    description:
      'A step looks at some thousand events and takes at most about 100 ms. It says how many it has looked at; `nextCursor` goes on from there, whether or not something was found.',
    permission: 'read',
    query: z.strictObject({
      ...tracePage,
      ...eventFilter,
      path: field
        .text(500)
        .optional()
        .meta({ description: 'Where in the payload: `customer.vatId`, `items[0].sku`. Needs `equals`.' }),
      equals: z
        .string()
        .max(1000)
        .optional()
        .meta({ description: 'What the payload has at `path`: a string, number or truth value as text.' }),
      text: field
        .text(500)
        .optional()
        .meta({ description: 'Part of the JSON as it was published, in this case.' }),
    }),
    result: listOf(event)
      .extend({
        scanned: z.int().meta({ description: 'How many events this step has looked at.' }),
        scannedTo: timestamp.nullable().meta({
          description:
            'When the last of them was accepted: everything newer has been looked at. Null: all of them.',
        }),
        total: z.int().nullable().meta({
          description:
            'About how many events were accepted between `from` and `to`; null without `from`, or when nobody has counted so far back.',
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
    summary: 'An event with its deliveries and their attempts',
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
    summary: "Remove an event's payload for good",
    description:
      'Body, headers, metadata, stored requests and answers, in its dead letters (which settle as `erased`), too. Refused while a delivery is owed, unless forced: then it ends as cancelled.',
    permission: 'administer',
    params: eventId,
    body: z
      .strictObject({
        reason: field.text(1000).meta({ description: 'Kept in the audit log.' }),
        force: field.flag().optional().meta({ description: 'Also while a delivery is owed.' }),
      })
      .meta({ examples: [{ reason: 'Request 17 to be forgotten' }] }),
    result: z
      .object({
        id: z.string(),
        cancelled: z.int().meta({ description: 'Deliveries that were owed and are cancelled now.' }),
        deadLetters: z
          .int()
          .meta({ description: 'Dead letters that were open and are settled as `erased`.' }),
      })
      .meta({ id: 'Erasure' }),
    errors: ['event_not_found', 'still_owed'],
  }),
}
