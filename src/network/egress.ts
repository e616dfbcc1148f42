import type { LookupFunction, Socket } from 'node:net'
import type { PortPolicy } from '../core/network/port-policy.ts'
import { type ForwardProxy, parseProxyUrl } from './forward-proxy.ts'
import { guardedSocket } from './guarded-socket.ts'
import type { NetworkRefusal } from './network-refusal.ts'
import { networkRules, refusalOfHost, refusalOfPort, refusalOfUrl } from './network-rules.ts'
import { type OpenSocket, openSocket, type SocketTarget } from './open-socket.ts'
import { openTunnel } from './proxy-tunnel.ts'

export interface EgressOptions {
  /** CIDRs that connections may reach although they aren't public. Default: none. */
  readonly allowNetworks?: readonly string[]
  /** Default: all ports except the usual ones of other protocols. */
  readonly ports?: PortPolicy
  /** All connections are made through this proxy, which then resolves the names. */
  readonly proxyUrl?: string
  readonly resolve?: LookupFunction
  readonly openSocket?: OpenSocket
}

export type OpenTcp = (hostname: string, port: number) => Socket

/** Additions to a plain HTTP request that is sent to a proxy: the whole URL in its first line, and our credentials. */
export interface AbsoluteForm {
  readonly authorization: string | null
}

/**
 * The single place for outgoing connections: every socket to an address that comes from configuration is opened here.
 *
 * @example
 * const egress = createEgress({ allowNetworks: ['10.1.0.0/16'] })
 * const socket = egress.openSocket({ protocol: 'https:', hostname: 'crm.example', port: 443 })
 */
export interface Egress {
  /** Throws a `NetworkRefusal`, or lets the socket emit one. */
  readonly openSocket: OpenSocket
  /** For protocols other than HTTP: the address is checked, the port isn't, and no proxy is used. */
  readonly openTcp: OpenTcp
  /** Set if requests to `http:` URLs are sent to a proxy in absolute form; those to `https:` are tunnelled. */
  readonly absoluteForm: AbsoluteForm | null
  /** Checks what is known before a connection is tried; a name is checked when it is resolved. */
  refusalOf(url: URL): NetworkRefusal | null
  /** The same check for `openTcp`. */
  refusalOfTcp(hostname: string): NetworkRefusal | null
}

export function createEgress(options: EgressOptions = {}): Egress {
  const rules = networkRules(options.allowNetworks ?? [], options.ports)
  const openDirect = guardedSocket({ ...rules, ports: { kind: 'any' } }, options)
  const openTcp: OpenTcp = (hostname, port) => openDirect({ protocol: 'http:', hostname, port })
  const refusalOf = (url: URL): NetworkRefusal | null => refusalOfUrl(url, rules)
  const refusalOfTcp = (hostname: string): NetworkRefusal | null => refusalOfHost(hostname, rules)
  if (options.proxyUrl === undefined) {
    return { openSocket: guardedSocket(rules, options), openTcp, absoluteForm: null, refusalOf, refusalOfTcp }
  }
  const proxy = parseProxyUrl(options.proxyUrl)
  return {
    openSocket: (target) => {
      const refusal = refusalOfPort(target.port, rules) ?? refusalOfHost(target.hostname, rules)
      if (refusal !== null) throw refusal
      return openThroughProxy(proxy, target)
    },
    openTcp,
    absoluteForm: { authorization: proxy.authorization },
    refusalOf,
    refusalOfTcp,
  }
}

/** The proxy itself isn't checked: the operator configured it, and it is usually in a private network. */
function openThroughProxy(proxy: ForwardProxy, target: SocketTarget): Socket {
  return target.protocol === 'https:' ? openTunnel(proxy, target) : openSocket(proxy.target)
}
