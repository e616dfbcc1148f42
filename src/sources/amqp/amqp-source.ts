import type { Egress } from '../../network/egress.ts'
import { brokerAccess, refusedBroker, secretPaths, shownPart } from '../../transports/amqp/broker-config.ts'
import type { SourceType } from '../source.ts'
import { amqpSourceConfig, amqpSourceConfigInput } from './amqp-source-config.ts'

/** Receives messages from a queue of an AMQP 0-9-1 broker, such as RabbitMQ. The client library is an optional peer dependency. */
export function amqpSource({ egress }: { readonly egress: Egress }): SourceType {
  return {
    name: 'amqp',
    parseConfig: (config) => amqpSourceConfigInput.parse(config),
    refuse: (config) => refusedBroker(amqpSourceConfig.parse(config), egress),
    secretPaths,
    shownPart,
    load: async () => {
      const [{ AmqpConsumer }, { loadAmqplib }] = await Promise.all([
        import('./amqp-consumer.ts'),
        import('../../amqp/amqplib.ts'),
      ])
      const amqplib = loadAmqplib()
      return (source, stored, listener) => {
        const config = amqpSourceConfig.parse(stored)
        return new AmqpConsumer({ source, config, ...brokerAccess(config), egress, amqplib, listener })
      }
    },
  }
}
