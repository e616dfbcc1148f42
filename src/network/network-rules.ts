import { HoldfastError } from '../core/errors.ts'
import { formatIpv4, parseHostAddress, parseIpAddress } from '../core/network/ip-address.ts'
import { judgeAddress } from '../core/network/judge-address.ts'
import { type Network, parseNetwork, withoutMapping } from '../core/network/network.ts'
import { isPortAllowed, type PortPolicy, usualPorts } from '../core/network/port-policy.ts'
import { NetworkRefusal } from './network-refusal.ts'

/** The addresses and ports that connections may reach. */
export interface NetworkRules {
  readonly allowed: readonly Network[]
  readonly ports: PortPolicy
}

/** Allows this machine: the default of `holdfast dev`, and of tests with local receivers. */
export const loopbackNetworks: readonly string[] = ['127.0.0.0/8', '::1/128']

/** Throws `configuration_invalid` for an invalid network. */
export function networkRules(allowNetworks: readonly string[], ports: PortPolicy = usualPorts): NetworkRules {
  const allowed = allowNetworks.map((text) => {
    const network = parseNetwork(text.trim())
    if (network === null) {
      throw new HoldfastError(
        'configuration_invalid',
        `"${text.slice(0, 80)}" is not a valid network. Write it like 10.0.0.0/8 or fd00::/8.`,
        { network: text.slice(0, 80) },
      )
    }
    return withoutMapping(network)
  })
  return { allowed, ports }
}

/** Checks an address in the form that a socket or a resolver prints. Any other text is refused. */
export function refusalOfAddress(text: string, rules: NetworkRules, host = text): NetworkRefusal | null {
  const address = parseIpAddress(text)
  if (address === null) {
    return new NetworkRefusal('address_refused', `"${text}" is not a valid address`)
  }
  const refusal = judgeAddress(address, rules.allowed)
  if (refusal === null) return null
  const { network, kind, leadsTo } = refusal
  const resolved = host === text ? text : `${host} resolves to ${text}, which`
  const subject = leadsTo === null ? `${resolved} is` : `${resolved} leads to ${leadsTo}, which is`
  return new NetworkRefusal(
    'address_refused',
    `${subject} ${kind} that Holdfast may not reach; to allow it, add ${network} to HOLDFAST_ALLOW_NETWORKS (allowNetworks)`,
    network,
  )
}

/** Checks what is known before a name is resolved: the port, and addresses in any spelling. */
export function refusalOfHost(hostname: string, rules: NetworkRules): NetworkRefusal | null {
  const address = parseHostAddress(hostname)
  if (address === null) return null
  const isPlain = parseIpAddress(hostname) !== null
  return refusalOfAddress(isPlain ? hostname : formatIpv4(address.value), rules, hostname)
}

export function refusalOfPort(port: number, rules: NetworkRules): NetworkRefusal | null {
  if (isPortAllowed(port, rules.ports)) return null
  return new NetworkRefusal(
    'port_refused',
    `Holdfast may not use port ${port}; to allow it, list it in HOLDFAST_ALLOW_PORTS (allowPorts)`,
  )
}

/** Returns null if a URL is allowed; the addresses of its name are checked when a connection is made. */
export function refusalOfUrl(url: URL, rules: NetworkRules): NetworkRefusal | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return new NetworkRefusal('protocol_refused', `${url.protocol} is neither http: nor https:`)
  }
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return refusalOfPort(port, rules) ?? refusalOfHost(url.hostname, rules)
}
