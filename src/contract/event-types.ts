import { z } from 'zod'
import { eventTypeInput } from '../core/event-type-input.ts'
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
    summary: 'Look at an event type',
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
    summary: 'Declare an event type, or replace it',
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
    summary: 'Forget an event type',
    description: 'Events of this type are published as before, without a schema.',
    permission: 'configure',
    params: eventTypeParams,
    query: z.strictObject(because),
    errors: ['event_type_not_found'],
  }),
}
