import { formatIpv4, type IpAddress } from './ip-address.ts'
import { isInNetwork, isSingleAddress, type Network } from './network.ts'
import { embeddedIpv4, specialNetworkOf } from './special-networks.ts'

/** Why an address is refused, and what would have to be allowed. */
export interface AddressRefusal {
  /** The CIDR to allow: the widest one that contains the address, or only the address for a metadata service. */
  readonly network: string
  /** Like "a private address". */
  readonly kind: string
  /** The IPv4 address that an IPv6 address embeds, if that one is refused. */
  readonly leadsTo: string | null
}

/**
 * Returns null if deliveries may reach an address, otherwise the reason. An IPv6 form of an IPv4 address is checked as that address too; tunnels
 * (6to4, Teredo, …) are always refused.
 *
 * @example judgeAddress(parseIpAddress('::ffff:10.0.0.1'), [])?.network // '10.0.0.0/8'
 */
export function judgeAddress(address: IpAddress, allowed: readonly Network[]): AddressRefusal | null {
  const embedded = embeddedIpv4(address)
  if (embedded?.isTransparent !== true) {
    const refusal = judgeItself(address, allowed)
    if (refusal !== null) return refusal
  }
  if (embedded === null) return null
  const refusal = judgeItself(embedded.address, allowed)
  return refusal === null ? null : { ...refusal, leadsTo: formatIpv4(embedded.address.value) }
}

function judgeItself(address: IpAddress, allowed: readonly Network[]): AddressRefusal | null {
  const special = specialNetworkOf(address)
  if (special === null) return null
  const isAllowed = allowed.some(
    (network) => isInNetwork(address, network) && (!special.isMetadata || isSingleAddress(network)),
  )
  return isAllowed ? null : { network: special.text, kind: special.kind, leadsTo: null }
}
