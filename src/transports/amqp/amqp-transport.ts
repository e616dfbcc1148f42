import { brokerName, parseAmqpUrl } from '../../amqp/amqp-url.ts'
import { createEgress, type Egress } from '../../network/egress.ts'
import { RequestRefused } from '../http/request-refused.ts'
import type { LazyTransport } from '../registry.ts'
import type { AmqpChannelOptions } from './amqp-channel.ts'
import { amqpConfig, amqpConfigInput } from './amqp-config.ts'
import { AmqpMessageRenderer, describeMessage } from './amqp-message.ts'
import { brokerAccess, refusedBroker, secretPaths, seenUrl, shownPart } from './broker-config.ts'

export interface AmqpTransportOptions {
  /** The outbound network rules. Default: public addresses only. */
  readonly egress?: Egress
}

/**
 * Publishes to an exchange of an AMQP 0-9-1 broker, such as RabbitMQ; the broker's confirm is the success. The client library is an
 * optional peer dependency, loaded by the first send.
 *
 * @example
 * const transports = createTransportRegistry([amqpTransport()])
 */
export function amqpTransport(options: AmqpTransportOptions = {}): LazyTransport {
  const egress = options.egress ?? createEgress()
  return {
    name: 'amqp',
    parseConfig: (config) => amqpConfigInput.parse(config),
    refuse: (config) => refusedBroker(amqpConfig.parse(config), egress),
    secretPaths,
    shownPart,
    describe: (stored, dispatch) => {
      const config = amqpConfig.parse(stored)
      const message = new AmqpMessageRenderer(config).render(dispatch, Date.now())
      if ('code' in message) {
        throw new RequestRefused({ class: 'permanent', isHealthFailure: false, ...message })
      }
      const address = parseAmqpUrl(seenUrl(config.url))
      return describeMessage(message, config, address === null ? 'amqp:' : brokerName(address))
    },
    checkStored: (config) => void channelOptions('', config),
    load: async () => {
      const [{ AmqpChannel }, { loadAmqplib }] = await Promise.all([
        import('./amqp-channel.ts'),
        import('../../amqp/amqplib.ts'),
      ])
      const amqplib = loadAmqplib()
      return (endpoint, config) => new AmqpChannel({ ...channelOptions(endpoint, config), egress, amqplib })
    },
  }
}

function channelOptions(endpoint: string, stored: unknown): Omit<AmqpChannelOptions, 'egress' | 'amqplib'> {
  const config = amqpConfig.parse(stored)
  return { endpoint, config, ...brokerAccess(config) }
}
