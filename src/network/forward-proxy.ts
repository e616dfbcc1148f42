import { HoldfastError } from '../core/errors.ts'
import type { SocketTarget } from './open-socket.ts'

/** A proxy for all connections, configured by an operator. */
export interface ForwardProxy {
  readonly target: SocketTarget
  /** `Basic …`; null if the proxy's URL contains no user. */
  readonly authorization: string | null
}

/** Throws `configuration_invalid` without showing the URL, which may contain a password. */
export function parseProxyUrl(text: string): ForwardProxy {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new HoldfastError(
      'configuration_invalid',
      'The proxy must be a URL like http://user:password@proxy.example:3128.',
    )
  }
  const { protocol, hostname, port } = url
  const user = `${decode(url.username)}:${decode(url.password)}`
  return {
    target: {
      protocol,
      hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
      port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    },
    authorization: user === ':' ? null : `Basic ${Buffer.from(user).toString('base64')}`,
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
