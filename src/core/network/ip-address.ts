/** An address as a number: 32 bits for IPv4, 128 for IPv6. */
export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
}

/**
 * Parses an address as sockets and resolvers print it: dotted decimals, or IPv6 with or without brackets and zone.
 * Anything else, such as a name, is null.
 *
 * @example parseIpAddress('::ffff:10.0.0.1')
 */
export function parseIpAddress(text: string): IpAddress | null {
  const value = parseDottedIpv4(text)
  if (value !== null) return { family: 4, value }
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const [address = '', zone, ...rest] = bare.split('%')
  if (zone === '' || rest.length > 0) return null
  const wide = parseIpv6(address)
  return wide === null ? null : { family: 6, value: wide }
}

/**
 * Parses a host as leniently as any program on the way might: also the one to four decimal, octal or hexadecimal parts that `inet_aton`,
 * getaddrinfo and URL parsers accept as an IPv4 address (`127.1`, `0x7f000001`, `017700000001`, `2130706433`).
 */
export function parseHostAddress(host: string): IpAddress | null {
  const strict = parseIpAddress(host)
  if (strict !== null) return strict
  const value = parseLooseIpv4(host.endsWith('.') ? host.slice(0, -1) : host)
  return value === null ? null : { family: 4, value }
}

export function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.')
}

function parseDottedIpv4(text: string): bigint | null {
  const parts = text.split('.')
  if (parts.length !== 4) return null
  let value = 0n
  for (const part of parts) {
    // A leading zero means octal to some parsers and decimal to others, so this strict form has none.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null
    value = (value << 8n) | BigInt(part)
  }
  return value
}

function parseLooseIpv4(text: string): bigint | null {
  const parts = text.split('.')
  if (parts.length > 4) return null
  const numbers: bigint[] = []
  for (const part of parts) {
    const number = parseLooseNumber(part)
    if (number === null) return null
    numbers.push(number)
  }
  const last = numbers.pop() ?? 0n
  // The last part fills all remaining bytes.
  const lastBits = 8n * BigInt(4 - numbers.length)
  if (last >= 1n << lastBits || numbers.some((number) => number > 255n)) return null
  return numbers.reduce((value, number, index) => value | (number << BigInt(24 - 8 * index)), last)
}

function parseLooseNumber(part: string): bigint | null {
  if (part.length > 64) return null
  if (/^0x[0-9a-f]*$/i.test(part)) return part.length === 2 ? 0n : BigInt(part)
  if (/^0[0-7]*$/.test(part)) return part === '0' ? 0n : BigInt(`0o${part.slice(1)}`)
  return /^[1-9]\d*$/.test(part) ? BigInt(part) : null
}

function parseIpv6(text: string): bigint | null {
  const halves = text.split('::')
  if (halves.length > 2 || text.length > 45) return null
  const [head, tail] = halves.map(parseGroups)
  if (head === undefined || head === null || tail === null) return null
  if (tail === undefined) return head.length === 8 ? joinGroups(head) : null
  const missing = 8 - head.length - tail.length
  if (missing < 1) return null
  return joinGroups([...head, ...Array.from({ length: missing }, () => 0n), ...tail])
}

/** The groups of one side of `::`; the last may be an IPv4 address, which is two groups. */
function parseGroups(side: string, index: number, sides: readonly string[]): bigint[] | null {
  if (side === '') return []
  const groups: bigint[] = []
  const parts = side.split(':')
  for (const [at, part] of parts.entries()) {
    const isLastOfAll = at === parts.length - 1 && index === sides.length - 1
    if (isLastOfAll && part.includes('.')) {
      const ipv4 = parseDottedIpv4(part)
      if (ipv4 === null) return null
      groups.push(ipv4 >> 16n, ipv4 & 0xffffn)
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(BigInt(`0x${part}`))
    } else {
      return null
    }
  }
  return groups.length > 8 ? null : groups
}

function joinGroups(groups: readonly bigint[]): bigint {
  return groups.reduce((value, group) => (value << 16n) | group, 0n)
}
