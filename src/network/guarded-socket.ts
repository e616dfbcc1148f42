import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { guardedLookup } from './guarded-lookup.ts'
import { type NetworkRules, refusalOfAddress, refusalOfHost, refusalOfPort } from './network-rules.ts'
import { type OpenSocket, openSocket } from './open-socket.ts'

export interface GuardedSocketOptions {
  /** Resolves names. Default: the system's resolver. */
  readonly resolve?: LookupFunction
  /** Opens the socket after the checks. */
  readonly openSocket?: OpenSocket
}

/**
 * Opens sockets to allowed addresses only. There are three checks, because each sees what the others can't: addresses in the URL itself (no look-up
 * is made for them), every address that a name resolves to, and finally the address that the socket is connected to.
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
    // Checked before other listeners see the connection, and before the TLS handshake.
    socket.prependOnceListener('connect', () => {
      const late = refusalOfAddress(socket.remoteAddress ?? '', rules, hostname)
      if (late !== null) socket.destroy(late)
    })
    return socket
  }
}
