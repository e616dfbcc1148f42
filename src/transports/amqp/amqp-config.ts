import { z } from 'zod'
import { messageTemplateProblem } from '../message-text.ts'
import { brokerFields, refuseBroker, shortText } from './broker-config.ts'

function template(place: string) {
  return z
    .string()
    .max(8_192)
    .superRefine((text, context) => {
      const message = messageTemplateProblem(text, place)
      if (message !== null) context.addIssue({ code: 'custom', message })
    })
}

const headerName = shortText.min(1).refine((name) => !/^(?:webhook-|holdfast-)/i.test(name), {
  error: 'is set by Holdfast and can not be configured',
})

const properties = z.strictObject({
  contentType: shortText.optional(),
  contentEncoding: shortText.optional(),
  priority: z.int().min(0).max(255).optional(),
  expirationMs: z.int().min(0).max(4_294_967_295).optional(),
  replyTo: shortText.optional(),
  type: shortText.optional(),
  appId: shortText.optional(),
  userId: shortText.optional(),
})

const shape = {
  ...brokerFields,
  /** The empty name is the default exchange, which routes to the queue that the key names. */
  exchange: shortText,
  routingKey: template('routingKey').optional(),
  headers: z.record(headerName, template('headers')).default({}),
  properties: properties.default({}),
  persistent: z.boolean().default(true),
  mandatory: z.boolean().default(true),
  /** `binary`: each message has the attributes of a CloudEvent, even without a transform. */
  cloudEvents: z.enum(['none', 'binary']).default('none'),
  cloudEventsPrefix: z.enum(['cloudEvents:', 'cloudEvents_']).default('cloudEvents:'),
  /** From connect to the broker's confirm. */
  confirmTimeoutMs: z.int().min(1).max(600_000).optional(),
  /** The same under the name that all transports and the presets use; `confirmTimeoutMs` takes precedence. */
  timeoutMs: z.int().min(1).max(600_000).default(10_000),
}

/** The `config` of an endpoint whose transport is `amqp`, as stored: a field that only a newer version knows is ignored. */
export const amqpConfig = z.object(shape)

/** The `config` as users write it. `classify` is validated for every transport alike. */
export const amqpConfigInput = z
  .strictObject({ ...shape, classify: z.unknown().optional() })
  .superRefine(refuseBroker)

export type AmqpConfig = z.output<typeof amqpConfig>

/** How long a message may take, from connect to the broker's confirm. */
export function confirmDeadlineMs({ confirmTimeoutMs, timeoutMs }: AmqpConfig): number {
  return confirmTimeoutMs ?? timeoutMs
}
