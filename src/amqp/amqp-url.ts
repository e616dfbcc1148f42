import { isIP } from 'node:net'

export interface BrokerHost {
  /** Without brackets. */
  readonly hostname: string
  readonly port: number
}

/** Where a broker is, as its URL says. */
export interface BrokerAddress {
  readonly isSecure: boolean
  /** The members of a cluster; one, if it has no other. */
  readonly hosts: readonly [BrokerHost, ...BrokerHost[]]
  readonly vhost: string
  /** Null when the URL has none. */
  readonly username: string | null
  readonly password: string | null
}

const hidden = '[hidden]'

/** Null for a text that isn't a broker's URL; `amqpUrlProblem` says why. */
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

/** `amqp://user:password@one,two:5673/vhost` as a URL for each host; empty for what is no URL of a broker. */
function urlsOf(text: string): readonly string[] {
  const match = /^(amqps?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is.exec(text)
  if (match === null) return []
  const [, before = '', hosts = '', after = ''] = match
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/** The problem of a broker's URL; null if there is none. */
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

/** The URL as it may be shown: without its password. */
export function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:/@]*):.*@/s, `$1:${hidden}@`)
}

/** For messages and for the stored request: never a user or a password. */
export function brokerName({ isSecure, hosts, vhost }: BrokerAddress): string {
  const names = hosts.map(
    ({ hostname, port }) => `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`,
  )
  return `${isSecure ? 'amqps' : 'amqp'}://${names.join(',')}/${encodeURIComponent(vhost)}`
}

/** An http: URL drops the port 80, which may be intended here. */
function portOf(url: string, port: string): number {
  if (port !== '') return Number(port)
  if (/^\w+:\/\/[^/]*:0*80(?:\/|$)/.test(url)) return 80
  return /^amqps:/i.test(url) ? 5671 : 5672
}
