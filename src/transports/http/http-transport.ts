import type { ConnectionOptions } from 'node:tls'
import type { Problem } from '../../core/problem.ts'
import { createEgress, type Egress } from '../../network/egress.ts'
import type { Transport } from '../transport.ts'
import { describeRequest } from './describe-request.ts'
import { HttpChannel } from './http-channel.ts'
import { type HttpConfig, httpConfig, httpConfigInput, seenUrl } from './http-config.ts'
import { completeConfig, secretPaths, shownPart } from './secret-paths.ts'
import { tlsOptions } from './tls-config.ts'
import { defaultUserAgent } from './user-agent.ts'

export interface HttpTransportOptions {
  /** Connections per endpoint if its lane sets no concurrency. */
  readonly connections?: number
  /** How long an idle connection is kept if the receiver doesn't specify it. */
  readonly keepAliveMs?: number
  readonly userAgent?: string
  /** The outbound network rules. Default: public addresses only. */
  readonly egress?: Egress
  /** Certificates and other TLS options, for every connection. */
  readonly tls?: ConnectionOptions
}

const defaultConnections = 64
const defaultKeepAliveMs = 4_000

/**
 * Delivers over HTTP/1.1 with one deadline from connect to the last byte. It doesn't follow redirects.
 *
 * @example
 * const channel = httpTransport().open('crm', { url: 'https://crm.example/hooks' })
 */
export function httpTransport(options: HttpTransportOptions = {}): Transport {
  const egress = options.egress ?? createEgress()
  const userAgent = options.userAgent ?? defaultUserAgent
  return {
    name: 'http',
    parseConfig: (config) => httpConfigInput.parse(config),
    refuse: (config) => refusedUrls(httpConfig.parse(config), egress),
    secretPaths,
    shownPart,
    completeConfig,
    describe: (config, dispatch) => describeRequest(httpConfig.parse(config), dispatch, userAgent),
    open: (endpoint, stored, limits) => {
      const config = httpConfig.parse(stored)
      return new HttpChannel({
        endpoint,
        config,
        maxConnections: limits?.maxConcurrency ?? options.connections ?? defaultConnections,
        keepAliveMs: options.keepAliveMs ?? defaultKeepAliveMs,
        userAgent,
        egress,
        tls: config.tls === undefined ? options.tls : { ...options.tls, ...tlsOptions(config.tls) },
      })
    },
  }
}

function refusedUrls({ url, auth }: HttpConfig, egress: Egress): Problem[] {
  const places = [{ path: 'config.url', url: seenUrl(url) }]
  if (auth.type === 'oauth2') places.push({ path: 'config.auth.tokenUrl', url: seenUrl(auth.tokenUrl) })
  return places.flatMap((place) => {
    // A mark stands for the stored value, which was checked when it was stored.
    if (!URL.canParse(place.url)) return []
    const refusal = egress.refusalOf(new URL(place.url))
    return refusal === null ? [] : [{ path: place.path, message: refusal.message }]
  })
}
