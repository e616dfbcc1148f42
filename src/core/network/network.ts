import { type IpAddress, parseIpAddress } from './ip-address.ts'

/** A network in CIDR notation, as text and as numbers. */
export interface Network {
  readonly text: string
  readonly family: 4 | 6
  readonly base: bigint
  /** Number of host bits, to shift away before comparing. */
  readonly hostBits: bigint
}

/** `10.0.0.0/8`, `fd00::/8`, or a single address. Host bits are ignored. */
export function parseNetwork(text: string): Network | null {
  const [addressText = '', prefixText, ...rest] = text.split('/')
  if (rest.length > 0 || /[[\]%]/.test(addressText)) return null
  const address = parseIpAddress(addressText)
  if (address === null) return null
  const width = address.family === 4 ? 32 : 128
  if (prefixText !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(prefixText)) return null
  const prefix = prefixText === undefined ? width : Number(prefixText)
  if (prefix > width) return null
  const hostBits = BigInt(width - prefix)
  return { text, family: address.family, base: address.value >> hostBits, hostBits }
}

/** Converts a network of IPv4-mapped addresses to the IPv4 network; returns any other unchanged. */
export function withoutMapping(network: Network): Network {
  const { family, base, hostBits } = network
  if (family === 4 || hostBits > 32n || base >> (32n - hostBits) !== 0xffffn) return network
  return { ...network, family: 4, base: base & ((1n << (32n - hostBits)) - 1n) }
}

export function isInNetwork(address: IpAddress, network: Network): boolean {
  return address.family === network.family && address.value >> network.hostBits === network.base
}

export function isSingleAddress(network: Network): boolean {
  return network.hostBits === 0n
}
