import { z } from 'zod'
import { brokerFields, refuseBroker, shortText } from '../../transports/amqp/broker-config.ts'
import { mappingFields } from '../mapping-config.ts'

const shape = {
  ...brokerFields,
  queue: shortText.min(1),
  prefetch: z.int().min(1).max(2_000).default(100),
  ...mappingFields('{{ routingKey }}'),
}

/** The `config` of a source whose type is `amqp`, as it is stored: a field that only a newer version knows is passed over. */
export const amqpSourceConfig = z.object(shape)

/** The same as a person writes it. */
export const amqpSourceConfigInput = z.strictObject(shape).superRefine(refuseBroker)

export type AmqpSourceConfig = z.output<typeof amqpSourceConfig>
