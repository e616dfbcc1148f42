import { isIP } from 'node:net'

/** Where a broker is, as its URL says. */
export interface BrokerAddress {
  readonly isSecure: boolean
  /** Without brackets. */
  readonly hostname: string
  readonly port: number
  readonly vhost: string
  /** Null when the URL has none. */
  readonly username: string | null
  readonly password: string | null
}

const hidden = '[hidden]'

/** Null for a text that isn't a broker's URL; `amqpUrlProblem` says why. */
export function parseAmqpUrl(text: string): BrokerAddress | null {
  const match = /^(amqps?):(\/\/.*)$/is.exec(text)
  // Parsed as an http: URL, the host is normalised: addresses in unusual spellings are recognised.
  const asHttp = match === null ? '' : `http:${match[2]}`
  if (match === null || !URL.canParse(asHttp)) return null
  const url = new URL(asHttp)
  const isSecure = match[1]?.toLowerCase() === 'amqps'
  try {
    return {
      isSecure,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: portOf(text, url, isSecure),
      vhost: url.pathname.length > 1 ? decodeURIComponent(url.pathname.slice(1)) : '/',
      username: url.username === '' ? null : decodeURIComponent(url.username),
      password: url.password === '' ? null : decodeURIComponent(url.password),
    }
  } catch {
    return null
  }
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
  if (/^\/[^/]*\//.test(new URL(text).pathname))
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
export function brokerName({ isSecure, hostname, port, vhost }: BrokerAddress): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname
  return `${isSecure ? 'amqps' : 'amqp'}://${host}:${port}/${encodeURIComponent(vhost)}`
}

/** An http: URL drops the port 80, which may be intended here. */
function portOf(text: string, url: URL, isSecure: boolean): number {
  if (url.port !== '') return Number(url.port)
  if (/^\w+:\/\/[^/]*:0*80(?:\/|$)/.test(text)) return 80
  return isSecure ? 5671 : 5672
}
