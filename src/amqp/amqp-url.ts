import { isIP } from 'node:net'

export interface BrokerHost {
  /** Without brackets. */
  readonly hostname: string
  readonly port: number
}

/** A broker's address, parsed from its URL. */
export interface BrokerAddress {
  readonly isSecure: boolean
  /** One entry for each member of a cluster; a single broker has one. */
  readonly hosts: readonly [BrokerHost, ...BrokerHost[]]
  readonly vhost: string
  /** Null when the URL has none. */
  readonly username: string | null
  readonly password: string | null
}

const hidden = '[hidden]'

/** Returns null for a text that isn't an AMQP URL; `amqpUrlProblem` says why. */
export function parseAmqpUrl(text: string): BrokerAddress | null {
  const urls = urlsOf(text)
  const hosts: BrokerHost[] = []
  for (const one of urls) {
    // Parsed as an http: URL, the host is normalised: addresses in unusual spellings are recognised.
    const asHttp = one.replace(/^amqps?:/i, 'http:')
    if (!URL.canParse(asHttp)) return null
    const { hostname, port } = new URL(asHttp)
    hosts.push({ hostname: hostname.replace(/^\[|\]$/g, ''), port: portOf(one, port) })
  }
  const [first, ...others] = hosts
  if (first === undefined) return null
  const url = new URL(urls[0]?.replace(/^amqps?:/i, 'http:') ?? '')
  try {
    return {
      isSecure: /^amqps:/i.test(text),
      hosts: [first, ...others],
      vhost: url.pathname.length > 1 ? decodeURIComponent(url.pathname.slice(1)) : '/',
      username: url.username === '' ? null : decodeURIComponent(url.username),
      password: url.password === '' ? null : decodeURIComponent(url.password),
    }
  } catch {
    return null
  }
}

/** Splits `amqp://user:password@one,two:5673/vhost` into one URL per host; empty for a text that isn't an AMQP URL. */
function urlsOf(text: string): readonly string[] {
  const match = /^(amqps?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is.exec(text)
  if (match === null) return []
  const [, before = '', hosts = '', after = ''] = match
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/** Returns what is wrong with an AMQP URL; null if it is valid. */
export function amqpUrlProblem(text: string): string | null {
  if (!/^amqps?:\/\//i.test(text)) return 'must begin with amqp:// or amqps://'
  if (text.includes(hidden) || text.includes(encodeURIComponent(hidden)))
    return 'contains [hidden], the placeholder of values that are never shown: pass the whole URL'
  const address = parseAmqpUrl(text)
  if (address === null) return 'is no URL of a broker, like amqps://rabbit.example:5671/vhost'
  if (/[?#]/.test(text))
    return 'must have no query and no fragment: connection settings in the URL are not supported'
  if (/^\w+:\/\/[^/]*\/[^/]*\//.test(text))
    return 'must have one virtual host as its path: write a slash in its name as %2F'
  if ((address.username === null) !== (address.password === null))
    return 'must have both user name and password, or neither'
  return null
}

export function hasPassword(url: string): boolean {
  return parseAmqpUrl(url)?.password != null
}

/** The URL without its password, for display. */
export function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:/@]*):.*@/s, `$1:${hidden}@`)
}

/** For messages and for the stored request: contains neither user nor password. */
export function brokerName({ isSecure, hosts, vhost }: BrokerAddress): string {
  const names = hosts.map(
    ({ hostname, port }) => `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`,
  )
  return `${isSecure ? 'amqps' : 'amqp'}://${names.join(',')}/${encodeURIComponent(vhost)}`
}

/** Parsing an http: URL drops port 80, which may be intended here. */
function portOf(url: string, port: string): number {
  if (port !== '') return Number(port)
  if (/^\w+:\/\/[^/]*:0*80(?:\/|$)/.test(url)) return 80
  return /^amqps:/i.test(url) ? 5671 : 5672
}
