import type { Problem } from '../../core/problem.ts'
import { createEgress, type Egress } from '../../network/egress.ts'
import { RequestRefused } from '../http/request-refused.ts'
import { requireSecret } from '../http/require-secret.ts'
import { tlsOptions } from '../http/tls-config.ts'
import type { LazyTransport } from '../registry.ts'
import type { AmqpChannelOptions } from './amqp-channel.ts'
import {
  type AmqpConfig,
  amqpConfig,
  amqpConfigInput,
  secretPaths,
  seenUrl,
  shownPart,
} from './amqp-config.ts'
import { AmqpMessageRenderer, describeMessage } from './amqp-message.ts'
import { brokerName, parseAmqpUrl } from './amqp-url.ts'

export interface AmqpTransportOptions {
  /** The way out. Default: to public addresses only. */
  readonly egress?: Egress
}

/**
 * Publishes to an exchange of a broker that speaks AMQP 0-9-1, such as RabbitMQ, and takes its confirm for the success. The client library is an
 * optional peer, loaded by the first send.
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
        import('./amqplib.ts'),
      ])
      const amqplib = loadAmqplib()
      return (endpoint, config) => new AmqpChannel({ ...channelOptions(endpoint, config), egress, amqplib })
    },
  }
}

function channelOptions(endpoint: string, stored: unknown): Omit<AmqpChannelOptions, 'egress' | 'amqplib'> {
  const config = amqpConfig.parse(stored)
  const address = parseAmqpUrl(requireSecret(config.url, 'url'))
  if (address === null) throw new Error('config.url is no URL of a broker')
  const password =
    config.password === undefined ? address.password : requireSecret(config.password, 'password')
  return {
    endpoint,
    config,
    address,
    // What a fresh RabbitMQ has; it lets that user in from its own machine only.
    username: config.username ?? address.username ?? 'guest',
    password: password ?? 'guest',
    tls: config.tls === undefined ? {} : tlsOptions(config.tls),
  }
}

function refusedBroker({ url }: AmqpConfig, egress: Egress): Problem[] {
  const address = parseAmqpUrl(seenUrl(url))
  // A mark that shows nothing stands for what is stored, which was judged when it came.
  const refusal = address === null ? null : egress.refusalOfTcp(address.hostname)
  return refusal === null ? [] : [{ path: 'config.url', message: refusal.message }]
}
