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

/** Null for a text that is no URL of a broker; `amqpUrlProblem` says why. */
export function parseAmqpUrl(text: string): BrokerAddress | null {
  const match = /^(amqps?):(\/\/.*)$/is.exec(text)
  // Read as an http: URL, the host is put into its usual spelling: addresses in odd spellings are seen as what they are.
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

/** What is wrong with the URL of a broker; null when nothing is. */
export function amqpUrlProblem(text: string): string | null {
  if (!/^amqps?:\/\//i.test(text)) return 'must begin with amqp:// or amqps://'
  if (text.includes(hidden) || text.includes(encodeURIComponent(hidden)))
    return 'holds [hidden], which stands for values that are never shown: give the whole URL'
  const address = parseAmqpUrl(text)
  if (address === null) return 'is no URL of a broker, like amqps://rabbit.example:5671/vhost'
  if (/[?#]/.test(text))
    return 'must have no query and no fragment: settings of the connection are not taken from it'
  if (/^\/[^/]*\//.test(new URL(text).pathname))
    return 'must have one virtual host as its path: write a slash in its name as %2F'
  if ((address.username === null) !== (address.password === null))
    return 'must hold user name and password together, or neither'
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

/** An http: URL forgets the port 80, which somebody may mean. */
function portOf(text: string, url: URL, isSecure: boolean): number {
  if (url.port !== '') return Number(url.port)
  if (/^\w+:\/\/[^/]*:0*80(?:\/|$)/.test(text)) return 80
  return isSecure ? 5671 : 5672
}
