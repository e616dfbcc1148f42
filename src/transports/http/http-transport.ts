import type { LookupFunction } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { Transport } from '../transport.ts'
import { describeRequest } from './describe-request.ts'
import { HttpChannel } from './http-channel.ts'
import { httpConfig } from './http-config.ts'
import { type OpenSocket, openSocket } from './open-socket.ts'
import type { PrepareRequest } from './outgoing-request.ts'
import { defaultUserAgent } from './user-agent.ts'

export interface HttpTransportOptions {
  /** Connections per endpoint where its lane sets no concurrency. */
  readonly connections?: number
  /** How long an idle connection is kept where the receiver doesn't say. */
  readonly keepAliveMs?: number
  readonly userAgent?: string
  /** Signs and authorizes requests. */
  readonly prepareRequest?: PrepareRequest
  /** Resolves host names; a guard against private addresses checks here what a name leads to. */
  readonly lookup?: LookupFunction
  /** Opens sockets; the same guard checks here the addresses that need no look-up. */
  readonly openSocket?: OpenSocket
  /** Certificates and the like, for every TLS connection. */
  readonly tls?: ConnectionOptions
}

const defaultConnections = 64
const defaultKeepAliveMs = 4_000

/**
 * Delivers over HTTP/1.1 with one deadline from connect to the last byte. It follows no redirects.
 *
 * @example
 * const channel = httpTransport().open('crm', { url: 'https://crm.example/hooks' })
 */
export function httpTransport(options: HttpTransportOptions = {}): Transport {
  return {
    name: 'http',
    parseConfig: (config) => httpConfig.parse(config),
    describe: (config, dispatch) =>
      describeRequest(httpConfig.parse(config), dispatch, options.userAgent ?? defaultUserAgent),
    open: (endpoint, config, limits) =>
      new HttpChannel({
        endpoint,
        config: httpConfig.parse(config),
        maxConnections: limits?.maxConcurrency ?? options.connections ?? defaultConnections,
        keepAliveMs: options.keepAliveMs ?? defaultKeepAliveMs,
        userAgent: options.userAgent ?? defaultUserAgent,
        target: {
          ...(options.lookup && { lookup: options.lookup }),
          ...(options.tls && { tls: options.tls }),
        },
        openSocket: options.openSocket ?? openSocket,
        prepareRequest: options.prepareRequest,
      }),
  }
}
