import { z } from 'zod'
import { eventTypeInput } from '../core/routes/event-type-input.ts'
import { defineOperation } from './define-operation.ts'
import { because, jsonObject, listOf, pageQuery, timestamp } from './shapes.ts'

const tag = 'Event types'

const eventTypeParams = z.object({
  name: z
    .string()
    .max(255)
    .meta({ description: 'The event type.', examples: ['order.created'] }),
})

const exampleType = {
  name: 'order.created',
  description: 'A customer placed an order.',
  schema: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
  criticality: 'critical',
}

const eventTypeShape = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    schema: jsonObject.nullable(),
    criticality: z.enum(['best_effort', 'standard', 'critical']).nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'EventType' })

export const eventTypeOperations = {
  list: defineOperation({
    id: 'listEventTypes',
    method: 'GET',
    path: '/v1/event-types',
    tag,
    summary: 'List declared event types by name',
    permission: 'read',
    query: z.strictObject(pageQuery),
    result: listOf(eventTypeShape),
  }),
  create: defineOperation({
    id: 'createEventType',
    method: 'POST',
    path: '/v1/event-types',
    tag,
    summary: 'Declare an event type',
    permission: 'configure',
    body: eventTypeInput.meta({ id: 'EventTypeInput', examples: [exampleType] }),
    status: 201,
    result: eventTypeShape,
    errors: ['event_type_exists', 'invalid_event_type'],
  }),
  get: defineOperation({
    id: 'getEventType',
    method: 'GET',
    path: '/v1/event-types/{name}',
    tag,
    summary: 'Get an event type',
    permission: 'read',
    params: eventTypeParams,
    result: eventTypeShape,
    errors: ['event_type_not_found'],
  }),
  put: defineOperation({
    id: 'putEventType',
    method: 'PUT',
    path: '/v1/event-types/{name}',
    tag,
    summary: 'Declare or replace an event type',
    permission: 'configure',
    params: eventTypeParams,
    body: eventTypeInput
      .omit({ name: true })
      .extend(because)
      .meta({ id: 'EventTypeSettings', examples: [{ criticality: 'critical' }] }),
    result: eventTypeShape,
    errors: ['invalid_event_type'],
  }),
  delete: defineOperation({
    id: 'deleteEventType',
    method: 'DELETE',
    path: '/v1/event-types/{name}',
    tag,
    summary: 'Delete an event type',
    description: 'Events of this type can still be published, without schema validation.',
    permission: 'configure',
    params: eventTypeParams,
    query: z.strictObject(because),
    errors: ['event_type_not_found'],
  }),
  recent: defineOperation({
    id: 'countRecentEventTypes',
    method: 'GET',
    path: '/v1/recent-event-types',
    tag,
    summary: 'List the types of recently published events, declared or not',
    description: 'Covers the last 10,000 messages and returns the 1,000 most frequent types.',
    permission: 'read',
    result: z
      .object({
        data: z.array(z.object({ type: z.string(), count: z.int(), lastSeenAt: timestamp })),
        scanned: z.int().meta({ description: 'Number of messages examined.' }),
        since: timestamp.nullable().meta({ description: 'When the oldest examined message was published.' }),
      })
      .meta({ id: 'RecentEventTypes' }),
  }),
  check: defineOperation({
    id: 'checkEventType',
    method: 'POST',
    path: '/v1/event-types/{name}/check',
    tag,
    summary: 'Validate the newest events of a type against a schema without storing it',
    description: 'Validates at most 200 events and 4 MB.',
    permission: 'read',
    params: eventTypeParams,
    body: z
      .strictObject({ schema: jsonObject })
      .meta({ examples: [{ schema: { type: 'object', required: ['id'] } }] }),
    result: z
      .object({
        checked: z.int(),
        failed: z.int(),
        since: timestamp.nullable(),
        failures: z.array(
          z.object({
            eventId: z.string(),
            problems: z.array(z.object({ path: z.string(), message: z.string() })),
          }),
        ),
      })
      .meta({ id: 'SchemaCheck' }),
    errors: ['invalid_event_type', 'checks_busy'],
    keepsResult: false,
    isRepeatable: true,
  }),
}
