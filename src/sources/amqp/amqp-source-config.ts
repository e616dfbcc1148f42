import { z } from 'zod'
import { brokerFields, refuseBroker, shortText } from '../../transports/amqp/broker-config.ts'
import { mappingFields } from '../mapping-config.ts'

const shape = {
  ...brokerFields,
  queue: shortText.min(1),
  prefetch: z.int().min(1).max(2_000).default(100),
  ...mappingFields('{{ routingKey }}'),
}

/** The stored `config` of a source of type `amqp`: fields that only a newer version knows are ignored. */
export const amqpSourceConfig = z.object(shape)

/** The `config` as a user writes it. */
export const amqpSourceConfigInput = z.strictObject(shape).superRefine(refuseBroker)

export type AmqpSourceConfig = z.output<typeof amqpSourceConfig>
