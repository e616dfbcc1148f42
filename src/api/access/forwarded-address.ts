import { parseIpAddress } from '../../core/network/ip-address.ts'
import { isInNetwork, type Network, parseNetwork, withoutMapping } from '../../core/network/network.ts'

/** Maximum number of proxies in a row; each adds one address. */
const maxHops = 16

/** How a dual-stack socket shows an IPv4 address. */
const mapped = /^::ffff:(?=[\d.]+$)/i

/**
 * The client's address behind trusted proxies. `X-Forwarded-For` is read from the right, where the nearest proxy appended, and only while each
 * address is a trusted proxy: everything further left may be forged by the caller.
 */
export class ForwardedAddress {
  readonly #trusted: readonly Network[]

  /** The configuration has validated these networks. */
  constructor(trustedProxies: readonly string[]) {
    this.#trusted = trustedProxies.map((text) => {
      const network = parseNetwork(text)
      if (network === null) throw new Error(`"${text}" is not a valid network`)
      return withoutMapping(network)
    })
  }

  of(socketAddress: string, forwardedFor: string | readonly string[] | undefined): string {
    if (forwardedFor === undefined || !this.#isTrusted(socketAddress)) return socketAddress
    const hops = [forwardedFor].flat().join(',').split(',').slice(-maxHops)
    let address = socketAddress
    for (const hop of hops.toReversed()) {
      const claimed = withoutPort(hop.trim())
      // A value that isn't an address is ignored; the last valid one counts.
      if (parseIpAddress(claimed) === null) return address
      address = claimed
      if (!this.#isTrusted(address)) return address
    }
    return address
  }

  #isTrusted(text: string): boolean {
    const address = parseIpAddress(text.replace(mapped, ''))
    return address !== null && this.#trusted.some((network) => isInNetwork(address, network))
  }
}

/** Some proxies append the port: `192.0.2.7:50123`, `[2001:db8::7]:50123`. */
function withoutPort(text: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? []
  if (bracketed !== undefined) return bracketed
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text
}
