import { z } from 'zod'
import { sendOptionFields } from '../core/delivery/send-options.ts'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'

/** The largest payload is 1 MiB by default; this adds room for its options and the surrounding JSON. */
const maxEventBytes = 2 * 1024 * 1024
const maxBatchBytes = 32 * 1024 * 1024
export const maxBatchEvents = 10_000

const payload = z
  .unknown()
  .meta({ description: 'Any JSON value. Numbers are stored and sent with the digits that you wrote.' })

const exampleEvent = {
  type: 'order.created',
  payload: { id: 17, amount: 250, country: 'NL' },
  idempotencyKey: 'order-17-created',
}

const typeAdvice = 'must be text of 1 to 255 characters, like "order.created"'
/** The allowed characters are checked at publishing, with the same error for the API, SDK and SQL. */
const eventType = field.text(255, {
  missing: 'is missing: give the type of the event, like "order.created"',
  wrong: typeAdvice,
})

export const eventInput = z
  .strictObject({ ...sendOptionFields, type: eventType, payload })
  .refine((event) => 'payload' in event, {
    path: ['payload'],
    error: 'is missing; send null for an empty payload',
  })
  .meta({ id: 'EventInput', examples: [exampleEvent] })

export const messageInput = z
  .strictObject({ ...sendOptionFields, payload })
  .refine((message) => 'payload' in message, {
    path: ['payload'],
    error: 'is missing; send null for an empty payload',
  })
  .meta({ id: 'MessageInput', examples: [{ payload: { hello: 'world' }, orderingKey: 'customer-7' }] })

export const publishedEvent = z
  .object({
    id: z.string(),
    deliveries: z.int().meta({ description: '0 if no route matches: the event is stored as unrouted.' }),
    held: z.int().meta({
      description:
        'The number of these deliveries that wait because their endpoint is paused, disabled or rejecting.',
    }),
  })
  .meta({ id: 'PublishedEvent', examples: [{ id: 'msg_0jm3x1c8000', deliveries: 2, held: 0 }] })

const sentMessage = z
  .object({ id: z.string(), deliveryId: z.string() })
  .meta({ id: 'SentMessage', examples: [{ id: 'msg_0jm3x1c8000', deliveryId: 'dlv_0jm3x1c8000' }] })

const publishErrors = [
  'invalid_options',
  'invalid_payload',
  'payload_too_large',
  'schema_violation',
  'queue_full',
  'idempotency_conflict',
] as const

export const eventOperations = {
  publish: defineOperation({
    id: 'publishEvent',
    method: 'POST',
    path: '/v1/events',
    tag: 'Events',
    summary: 'Publish an event',
    description:
      'Stores the event and one delivery for each matching route. The response is sent after the commit: an accepted event is never lost.',
    permission: 'publish',
    body: eventInput,
    status: 202,
    result: publishedEvent,
    errors: publishErrors,
    keepsResult: false,
    isRepeatable: true,
    maxBodyBytes: maxEventBytes,
  }),
  publishBatch: defineOperation({
    id: 'publishEvents',
    method: 'POST',
    path: '/v1/events/batch',
    tag: 'Events',
    summary: 'Publish several events in one transaction',
    permission: 'publish',
    body: z
      .strictObject({
        events: z
          .array(eventInput, { error: 'must be a list of events' })
          .max(maxBatchEvents, { error: `must have at most ${maxBatchEvents} events` }),
      })
      .meta({
        id: 'EventBatch',
        examples: [{ events: [exampleEvent, { type: 'order.paid', payload: { id: 17 } }] }],
      }),
    status: 202,
    result: z.object({ events: z.array(publishedEvent) }),
    errors: publishErrors,
    keepsResult: false,
    isRepeatable: true,
    maxBodyBytes: maxBatchBytes,
  }),
  send: defineOperation({
    id: 'sendMessage',
    method: 'POST',
    path: '/v1/endpoints/{name}/send',
    tag: 'Events',
    summary: 'Send a message directly to an endpoint',
    permission: 'publish',
    params: z.object({ name: z.string().meta({ description: 'The endpoint.', examples: ['crm'] }) }),
    body: messageInput,
    status: 202,
    result: sentMessage,
    errors: ['endpoint_not_found', ...publishErrors],
    keepsResult: false,
    isRepeatable: true,
    maxBodyBytes: maxEventBytes,
  }),
}
