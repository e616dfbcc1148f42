import net from 'node:net'
import tls from 'node:tls'

/** Where a connection goes, and how names and certificates are checked on the way. */
export interface SocketTarget {
  readonly protocol: 'http:' | 'https:'
  /** A name or an address, without brackets. */
  readonly hostname: string
  readonly port: number
  readonly lookup?: net.LookupFunction
  readonly tls?: tls.ConnectionOptions
}

/** Starts a connection. The transport watches the socket's events; it must emit `error` when it can't connect. */
export type OpenSocket = (target: SocketTarget) => net.Socket

export const openSocket: OpenSocket = (target) => {
  const { protocol, hostname, port, lookup } = target
  const options = { host: hostname, port, noDelay: true, keepAlive: true, ...(lookup && { lookup }) }
  if (protocol === 'http:') return net.connect(options)
  // An address is no server name (RFC 6066): sending it makes some servers refuse the handshake.
  const servername = net.isIP(hostname) === 0 ? { servername: hostname } : {}
  return tls.connect({ ALPNProtocols: ['http/1.1'], ...servername, ...target.tls, ...options })
}
