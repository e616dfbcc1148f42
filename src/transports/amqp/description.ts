import { z } from 'zod'
import type { CommonEndpointInput } from '../../core/endpoints/common-endpoint-input.ts'
import { type SecretInput, secretInput } from '../../core/endpoints/secret-input.ts'
import { type TlsInput, tlsInput } from '../http/description.ts'
import { type AttemptClassName, classify, describeTransport, timeoutMs } from '../transport-description.ts'

/** Properties that every message of an endpoint carries. What is left out is set from the message. */
export interface AmqpPropertiesInput {
  /** The content type of the body; by default `application/json` or that of the transform. */
  readonly contentType?: string | undefined
  /** The content encoding of the body, like `gzip`; Holdfast itself encodes nothing. */
  readonly contentEncoding?: string | undefined
  /** The priority in queues that have priorities, 0 to 255. */
  readonly priority?: number | undefined
  /** How long the broker keeps the message in a queue, in milliseconds. */
  readonly expirationMs?: number | undefined
  /** The queue for replies. */
  readonly replyTo?: string | undefined
  /** The type of the message; by default the event's type. */
  readonly type?: string | undefined
  /** The sending application; `holdfast` by default. */
  readonly appId?: string | undefined
  /** The sending user; the broker rejects any other than the connection's. */
  readonly userId?: string | undefined
}

/** The `config` of an endpoint whose transport is `amqp`: an exchange of RabbitMQ, or of another broker that speaks AMQP 0-9-1. */
export interface AmqpConfigInput {
  /** The broker and the virtual host, `amqps://host:5671/vhost` or `amqp://…`. With a password in it, it is stored as a secret. */
  readonly url: SecretInput
  /** The broker's user, if it is not in the URL; `guest` by default. */
  readonly username?: string | undefined
  /** The password of `username`, stored encrypted. */
  readonly password?: SecretInput | undefined
  /** The exchange to publish to, which must exist; the empty name is the default exchange, which routes to the queue named by the key. */
  readonly exchange: string
  /** The routing key, with placeholders like `{{ $eventType }}`; by default the event's type. */
  readonly routingKey?: string | undefined
  /** Headers of each message, with placeholders. They are not secret. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Properties of each message. */
  readonly properties?: AmqpPropertiesInput | undefined
  /** Whether durable queues keep the message when the broker restarts; true by default. */
  readonly persistent?: boolean | undefined
  /** Whether a message that routes to no queue fails; true by default. With false it counts as delivered and is lost. */
  readonly mandatory?: boolean | undefined
  /** `binary` sends each message as a CloudEvent, its attributes as headers; `none` (default) leaves that to a transform. */
  readonly cloudEvents?: 'none' | 'binary' | undefined
  /** The prefix of CloudEvents attributes in the headers in binary mode: `cloudEvents:` (default) or `cloudEvents_`. */
  readonly cloudEventsPrefix?: 'cloudEvents:' | 'cloudEvents_' | undefined
  /** A client certificate, or your own certificate authority; requires `amqps:`. */
  readonly tls?: TlsInput | undefined
  /** One deadline from connect to the broker's confirm, in milliseconds, 10,000 by default. */
  readonly confirmTimeoutMs?: number | undefined
  /** The same under the name that other transports and the presets have; `confirmTimeoutMs` takes precedence. */
  readonly timeoutMs?: number | undefined
  /** Has no effect: a broker returns no statuses. */
  readonly classify?: Readonly<Record<string, AttemptClassName>> | undefined
}

/** An endpoint that is an exchange of RabbitMQ. */
export interface AmqpEndpointInput extends CommonEndpointInput {
  /** The transport. */
  readonly transport: 'amqp'
  /** The exchange, and how messages are published to it. */
  readonly config: AmqpConfigInput
}

const amqpProperties = z
  .strictObject({
    contentType: z.string().optional(),
    contentEncoding: z.string().optional(),
    priority: z.int().min(0).max(255).optional(),
    expirationMs: z.int().min(0).max(4_294_967_295).optional(),
    replyTo: z.string().optional(),
    type: z.string().optional(),
    appId: z.string().optional(),
    userId: z.string().optional(),
  })
  .meta({ id: 'AmqpPropertiesInput' }) satisfies z.ZodType<unknown, AmqpPropertiesInput>

const config = z
  .strictObject({
    url: secretInput,
    username: z.string().min(1).max(255).optional(),
    password: secretInput.optional(),
    exchange: z.string(),
    routingKey: z.string().max(8192).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    properties: amqpProperties.optional(),
    persistent: z.boolean().optional(),
    mandatory: z.boolean().optional(),
    cloudEvents: z.enum(['none', 'binary']).optional(),
    cloudEventsPrefix: z.enum(['cloudEvents:', 'cloudEvents_']).optional(),
    tls: tlsInput.optional(),
    confirmTimeoutMs: timeoutMs,
    timeoutMs,
    classify,
  })
  .meta({ id: 'AmqpConfigInput' }) satisfies z.ZodType<unknown, AmqpConfigInput>

export const amqpDescription = describeTransport<AmqpEndpointInput>({
  name: 'amqp',
  sendsTo: 'an exchange of RabbitMQ',
  config,
  example: {
    name: 'orders',
    transport: 'amqp',
    config: { url: 'amqps://rabbit.example:5671/shop', exchange: 'orders', routingKey: '{{ $eventType }}' },
  },
  flags: [
    { flag: '--url <url>', sets: 'url', about: 'the broker of the amqp transport' },
    {
      flag: '--exchange <name>',
      sets: 'exchange',
      about: 'the exchange that the amqp transport publishes to',
    },
    {
      flag: '--routing-key <template>',
      sets: 'routingKey',
      about: "its routing key, like '{{ $eventType }}' (default: the event's type)",
    },
    {
      flag: '--username <name>',
      sets: 'username',
      about: "the broker's user; its password goes into --config @file",
    },
  ],
  defaultsOf: ({ timeoutMs: deadlineMs = 10_000 }) => ({
    headers: {},
    properties: {},
    persistent: true,
    mandatory: true,
    cloudEvents: 'none',
    confirmTimeoutMs: deadlineMs,
  }),
  // A broker requires a password, and PostgreSQL has no key to encrypt it.
  sqlConfig: null,
  targetOf: ({ url, exchange }) => {
    const broker = typeof url === 'string' ? url : 'amqp'
    return exchange === '' ? broker : `${broker} ${exchange}`
  },
})
