import type { IpAddress } from './ip-address.ts'
import { isInNetwork, type Network, parseNetwork } from './network.ts'

/** A network that isn't the public internet. */
export interface SpecialNetwork extends Network {
  /** Completes a sentence after "… is ". */
  readonly kind: string
  /** It provides credentials of the machine: only its own address on the allow-list allows it, not a wider network. */
  readonly isMetadata: boolean
}

const metadataKind = 'a cloud metadata service'

/**
 * Networks that deliveries may not reach unless allowed, after IANA's registries of special-purpose addresses. The first match
 * counts, so narrow networks come before wide ones. IPv6 ends with everything outside of 2000::/3: only that
 * part has been assigned as public unicast; later assignments must be added explicitly.
 */
const table: readonly (readonly [network: string, kind: string])[] = [
  ['169.254.169.254', metadataKind],
  ['169.254.170.2', metadataKind],
  ['169.254.170.23', metadataKind],
  ['100.100.100.200', metadataKind],
  ['192.0.0.192', metadataKind],
  ['168.63.129.16', metadataKind],
  ['fd00:ec2::254', metadataKind],
  ['fd00:ec2::23', metadataKind],
  ['fd20:ce::254', metadataKind],
  ['0.0.0.0/8', 'an address of this host'],
  ['10.0.0.0/8', 'a private address'],
  ['100.64.0.0/10', 'a carrier-grade NAT address'],
  ['127.0.0.0/8', 'a loopback address'],
  ['169.254.0.0/16', 'a link-local address'],
  ['172.16.0.0/12', 'a private address'],
  ['192.0.0.0/24', 'an address for protocol assignments'],
  ['192.0.2.0/24', 'a documentation address'],
  ['192.88.99.0/24', 'a 6to4 relay address'],
  ['192.168.0.0/16', 'a private address'],
  ['198.18.0.0/15', 'a benchmarking address'],
  ['198.51.100.0/24', 'a documentation address'],
  ['203.0.113.0/24', 'a documentation address'],
  ['224.0.0.0/4', 'a multicast address'],
  ['255.255.255.255', 'the broadcast address'],
  ['240.0.0.0/4', 'a reserved address'],
  ['::', 'an address of this host'],
  ['::1', 'a loopback address'],
  ['::/96', 'an IPv4-compatible address'],
  ['::ffff:0:0:0/96', 'an IPv4-translated address'],
  ['64:ff9b:1::/48', 'a local NAT64 address'],
  ['100::/64', 'a discard address'],
  ['100:0:0:1::/64', 'a dummy address'],
  ['2001::/32', 'a Teredo address'],
  ['2001:2::/48', 'a benchmarking address'],
  ['2001::/23', 'an address for protocol assignments'],
  ['2001:db8::/32', 'a documentation address'],
  ['2002::/16', 'a 6to4 address'],
  ['3fff::/20', 'a documentation address'],
  ['5f00::/16', 'a segment routing address'],
  ['fc00::/7', 'a private address'],
  ['fe80::/10', 'a link-local address'],
  ['fec0::/10', 'a site-local address'],
  ['ff00::/8', 'a multicast address'],
  ['::/3', 'a reserved address'],
  ['4000::/2', 'a reserved address'],
  ['8000::/1', 'a reserved address'],
]

export const specialNetworks: readonly SpecialNetwork[] = table.map(([text, kind]) => ({
  ...knownNetwork(text),
  kind,
  isMetadata: kind === metadataKind,
}))

const specialIpv4 = specialNetworks.filter(({ family }) => family === 4)
const specialIpv6 = specialNetworks.filter(({ family }) => family === 6)

export function specialNetworkOf(address: IpAddress): SpecialNetwork | null {
  const candidates = address.family === 4 ? specialIpv4 : specialIpv6
  return candidates.find((network) => isInNetwork(address, network)) ?? null
}

interface Embedding {
  readonly network: Network
  /** Just another notation of the IPv4 address: only that address is checked. */
  readonly isTransparent: boolean
  readonly addressIn: (value: bigint) => bigint
}

const low32 = (value: bigint): bigint => value & 0xffffffffn

const embeddings: readonly Embedding[] = [
  embedding('::ffff:0:0/96', true, low32),
  embedding('64:ff9b::/96', true, low32),
  embedding('::/96', false, low32),
  embedding('::ffff:0:0:0/96', false, low32),
  embedding('2002::/16', false, (value) => low32(value >> 80n)),
  embedding('2001::/32', false, (value) => low32(value) ^ 0xffffffffn),
]

/** The IPv4 address that an IPv6 address embeds as a mapping, a translation or a tunnel. */
export function embeddedIpv4(
  address: IpAddress,
): { readonly address: IpAddress; readonly isTransparent: boolean } | null {
  // The loopback address is in ::/96, but isn't a mapping.
  if (address.family === 4 || address.value === 1n) return null
  const found = embeddings.find(({ network }) => isInNetwork(address, network))
  if (found === undefined) return null
  return {
    address: { family: 4, value: found.addressIn(address.value) },
    isTransparent: found.isTransparent,
  }
}

function embedding(text: string, isTransparent: boolean, addressIn: (value: bigint) => bigint): Embedding {
  return { network: knownNetwork(text), isTransparent, addressIn }
}

function knownNetwork(text: string): Network {
  const network = parseNetwork(text)
  if (network === null) throw new Error(`not a network: ${text}`)
  return network
}
