import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { guardedLookup } from './guarded-lookup.ts'
import { type NetworkRules, refusalOfAddress, refusalOfHost, refusalOfPort } from './network-rules.ts'
import { type OpenSocket, openSocket } from './open-socket.ts'

export interface GuardedSocketOptions {
  /** How names are resolved. Default: as the system does. */
  readonly resolve?: LookupFunction
  /** Opens the socket after the checks. */
  readonly openSocket?: OpenSocket
}

/**
 * Opens sockets to allowed addresses only. Three checks, because each sees what the others can't: addresses written into the URL (no
 * look-up is made for those), every address that a name resolves to, and in the end the address that the socket is connected to.
 */
export function guardedSocket(rules: NetworkRules, options: GuardedSocketOptions = {}): OpenSocket {
  const open = options.openSocket ?? openSocket
  const lookup = guardedLookup(rules, options.resolve ?? systemLookup)
  return (target) => {
    const { hostname, port } = target
    const isAddress = isIP(hostname) !== 0
    const refusal = refusalOfPort(port, rules) ?? (isAddress ? refusalOfHost(hostname, rules) : null)
    if (refusal !== null) throw refusal
    const socket = open({ ...target, lookup })
    // Before other listeners see the connection, and before the TLS handshake.
    socket.prependOnceListener('connect', () => {
      const late = refusalOfAddress(socket.remoteAddress ?? '', rules, hostname)
      if (late !== null) socket.destroy(late)
    })
    return socket
  }
}
