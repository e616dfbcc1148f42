import { z } from 'zod'
import { field } from '../core/field.ts'
import { criticality } from './attempts.ts'
import { defineOperation } from './define-operation.ts'
import { wholeDelivery } from './deliveries.ts'
import { messageFilter, timeFilter, tracePage } from './filters.ts'
import { jsonObject, listOf, timestamp } from './shapes.ts'

const summary = {
  id: z.string(),
  type: z.string().nullable(),
  tenant: z.string().nullable(),
  correlationId: z.string().nullable(),
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
      ...messageFilter,
      ...timeFilter,
      state: field.oneOf('unrouted', 'routed').optional(),
    }),
    result: listOf(z.object(summary).meta({ id: 'Event' })),
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
