import { z } from 'zod'
import { sendOptionFields } from '../core/delivery/send-options.ts'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'

/** The largest payload by default is 1 MiB; its options and the JSON around it come on top. */
const maxEventBytes = 2 * 1024 * 1024
const maxBatchBytes = 32 * 1024 * 1024
export const maxBatchEvents = 10_000

const payload = z
  .unknown()
  .meta({ description: 'Any JSON. It is kept and sent digit by digit as you wrote it.' })

const exampleEvent = {
  type: 'order.created',
  payload: { id: 17, amount: 250, country: 'NL' },
  idempotencyKey: 'order-17-created',
}

const typeAdvice = 'must be text of 1 to 255 characters, like "order.created"'
/** Which characters it may have is checked where events are published, with the same words for every way in. */
const eventType = field.text(255, {
  missing: 'is missing: name what happened, like "order.created"',
  wrong: typeAdvice,
})

export const eventInput = z
  .strictObject({ ...sendOptionFields, type: eventType, payload })
  .refine((event) => 'payload' in event, {
    path: ['payload'],
    error: 'is missing; send null if nothing is what you mean',
  })
  .meta({ id: 'EventInput', examples: [exampleEvent] })

export const messageInput = z
  .strictObject({ ...sendOptionFields, payload })
  .refine((message) => 'payload' in message, {
    path: ['payload'],
    error: 'is missing; send null if nothing is what you mean',
  })
  .meta({ id: 'MessageInput', examples: [{ payload: { hello: 'world' }, orderingKey: 'customer-7' }] })

export const publishedEvent = z
  .object({
    id: z.string(),
    deliveries: z.int().meta({ description: '0: no route wants it, and it is kept as unrouted.' }),
    held: z.int().meta({
      description: 'Of those, how many wait because their endpoint is paused, disabled or rejecting.',
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
      'Stores the event and a delivery for every route that wants it. The answer comes after the commit: an event that was accepted is never lost.',
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
    summary: 'Publish many events, all or nothing',
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
    summary: 'Send one message straight to one endpoint',
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
