import { z } from 'zod'
import { type SecretInput, secretInput } from '../../core/endpoints/secret-input.ts'
import { type CommonSourceInput, type MappingInput, mappingInput } from '../../core/sources/mapping-input.ts'
import { type TlsInput, tlsInput } from '../../transports/http/description.ts'
import { describeSource } from '../source-description.ts'

/** The `config` of a source whose type is `amqp`: a queue of RabbitMQ, or of another broker that speaks AMQP 0-9-1. */
export interface AmqpSourceConfigInput extends MappingInput {
  /** The broker and the virtual host, `amqps://host:5671/vhost` or `amqp://…`. With a password in it, it is stored as a secret. */
  readonly url: SecretInput
  /** The broker's user, if it is not in the URL; `guest` by default. */
  readonly username?: string | undefined
  /** The password of `username`, stored encrypted. */
  readonly password?: SecretInput | undefined
  /** A client certificate, or your own certificate authority; requires `amqps:`. */
  readonly tls?: TlsInput | undefined
  /** The queue to consume, which must exist. */
  readonly queue: string
  /** How many unacknowledged messages each node may hold, 1 to 2,000; 100 by default. */
  readonly prefetch?: number | undefined
}

/** A source that is a queue of RabbitMQ. */
export interface AmqpSourceInput extends CommonSourceInput {
  /** The type. */
  readonly type: 'amqp'
  /** The queue, and how its messages become events. */
  readonly config: AmqpSourceConfigInput
}

const config = z
  .strictObject({
    url: secretInput,
    username: z.string().min(1).max(255).optional(),
    password: secretInput.optional(),
    tls: tlsInput.optional(),
    queue: z.string(),
    prefetch: z.int().min(1).max(2000).optional(),
    ...mappingInput,
  })
  .meta({ id: 'AmqpSourceConfigInput' }) satisfies z.ZodType<unknown, AmqpSourceConfigInput>

export const amqpSourceDescription = describeSource<AmqpSourceInput>({
  name: 'amqp',
  readsFrom: 'a queue of RabbitMQ',
  config,
  example: {
    name: 'shop-orders',
    type: 'amqp',
    config: { url: 'amqps://rabbit.example:5671/shop', queue: 'orders', eventType: '{{ routingKey }}' },
  },
  flags: [
    { flag: '--url <url>', sets: 'url', about: 'the broker, like amqps://user:password@host/vhost' },
    { flag: '--queue <name>', sets: 'queue', about: 'the queue to consume' },
    {
      flag: '--prefetch <number>',
      sets: 'prefetch',
      about: 'unacknowledged messages that each node may hold (default: 100)',
      reads: 'wholeNumber',
    },
  ],
  targetOf: ({ url, queue }) => {
    const shown = typeof url === 'string' ? url : (url as { readonly shown?: string }).shown
    return `${shown ?? 'amqp'} ${queue}`
  },
})
