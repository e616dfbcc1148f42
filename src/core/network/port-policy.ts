/** Which ports deliveries may use: all but the usual ports of other protocols, all, or only those listed. */
export type PortPolicy =
  | { readonly kind: 'usual' }
  | { readonly kind: 'any' }
  | { readonly kind: 'listed'; readonly ranges: readonly PortRange[] }

export interface PortRange {
  readonly from: number
  readonly to: number
}

export const usualPorts: PortPolicy = { kind: 'usual' }

/**
 * Ports of services other than HTTP: mail, DNS, files, remote shells, directories, databases, caches, queues. An HTTP request to such a service is a
 * mistake, or an attack if the service partly understands it.
 */
const deniedByDefault: readonly PortRange[] = [
  range(0, 79),
  range(87),
  range(95),
  range(101, 119),
  range(123),
  range(135, 139),
  range(143),
  range(161, 162),
  range(179),
  range(194),
  range(389),
  range(427),
  range(445),
  range(464, 465),
  range(500),
  range(512, 515),
  range(526, 532),
  range(540),
  range(548),
  range(554),
  range(563),
  range(587),
  range(601),
  range(623),
  range(631),
  range(636),
  range(873),
  range(989, 995),
  range(1080),
  range(1433, 1434),
  range(1521),
  range(1719, 1723),
  range(1883),
  range(2049),
  range(2181),
  range(2375, 2380),
  range(3268, 3269),
  range(3306),
  range(3389),
  range(4045),
  range(4190),
  range(4369),
  range(5060, 5061),
  range(5432, 5433),
  range(5671, 5672),
  range(5900, 5901),
  range(5985, 5986),
  range(6000, 6007),
  range(6379, 6380),
  range(6432),
  range(6566),
  range(6665, 6669),
  range(6697),
  range(8883),
  range(9042),
  range(9092, 9094),
  range(10080),
  range(10250, 10255),
  range(11211),
  range(26379),
  range(27017, 27019),
]

export function isPortAllowed(port: number, policy: PortPolicy): boolean {
  if (port < 1 || port > 65_535) return false
  switch (policy.kind) {
    case 'any':
      return true
    case 'usual':
      return !isInRanges(port, deniedByDefault)
    case 'listed':
      return isInRanges(port, policy.ranges)
    default:
      return policy satisfies never
  }
}

/** Parses `usual`, `any`, or ports and ranges like `80,443,8000-8999`; null if the text is none of these. */
export function parsePorts(text: string): PortPolicy | null {
  const trimmed = text.trim()
  if (trimmed === 'usual' || trimmed === 'any') return { kind: trimmed }
  const ranges: PortRange[] = []
  for (const part of trimmed.split(',')) {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim())
    if (match === null) return null
    const from = Number(match[1])
    const to = Number(match[2] ?? match[1])
    if (from < 1 || to > 65_535 || from > to) return null
    ranges.push({ from, to })
  }
  return { kind: 'listed', ranges }
}

/** For messages and the documentation: "0–79, 87, …". */
export function deniedPortsText(): string {
  return deniedByDefault.map(({ from, to }) => (from === to ? String(from) : `${from}–${to}`)).join(', ')
}

function range(from: number, to = from): PortRange {
  return { from, to }
}

function isInRanges(port: number, ranges: readonly PortRange[]): boolean {
  return ranges.some(({ from, to }) => port >= from && port <= to)
}
