import net from 'node:net'
import type tls from 'node:tls'
import { connectTls } from './connect-tls.ts'

/** The target of a connection, and how names and certificates are checked. */
export interface SocketTarget {
  readonly protocol: 'http:' | 'https:'
  /** A name or an address, without brackets. */
  readonly hostname: string
  readonly port: number
  readonly lookup?: net.LookupFunction
  readonly tls?: tls.ConnectionOptions
}

/** Starts a connection. The caller listens to the socket's events; the socket must emit `error`, or this function throw, if it can't connect. */
export type OpenSocket = (target: SocketTarget) => net.Socket

/** Opens a socket without checks, for the guard itself. All other code opens sockets through an `Egress`. */
export const openSocket: OpenSocket = (target) => {
  const { protocol, hostname, port, lookup } = target
  const options = { host: hostname, port, noDelay: true, keepAlive: true, ...(lookup && { lookup }) }
  if (protocol === 'http:') return net.connect(options)
  return connectTls({ ...tlsOptions(target), ...options })
}

export function tlsOptions({ hostname, tls }: SocketTarget): tls.ConnectionOptions {
  // An address can't be a server name (RFC 6066): sending one makes some servers refuse the handshake.
  const servername = net.isIP(hostname) === 0 ? { servername: hostname } : {}
  return { ALPNProtocols: ['http/1.1'], ...servername, ...tls }
}

/** The host and port of a URL. */
export function socketTarget(url: URL): SocketTarget {
  const protocol = url.protocol === 'https:' ? 'https:' : 'http:'
  const hostname = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  const port = url.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { protocol, hostname, port }
}
