import { isSecretMark, type SecretPath } from '../../secrets/endpoint-secrets.ts'
import type { CompletedConfig } from '../transport.ts'
import { hasQuery, withoutQueryValues } from './hidden-query.ts'
import { newSigningSecret } from './signing-secret.ts'

const fixedPaths: readonly SecretPath[] = [
  ['signing', 'secret'],
  ['auth', 'password'],
  ['auth', 'token'],
  ['auth', 'key'],
  ['auth', 'clientSecret'],
  ['tls', 'key'],
  ['tls', 'passphrase'],
]

/** The paths of the secrets of an http endpoint: including every header that isn't listed as plain, and the URL if it has a query. */
export function secretPaths(config: Readonly<Record<string, unknown>>): readonly SecretPath[] {
  const headers = isRecord(config['headers']) ? Object.keys(config['headers']) : []
  const isPlain = plainHeaderTest(config['plainHeaders'])
  const { url } = config
  const isHidden = typeof url === 'string' ? hasQuery(url) : isSecretMark(url)
  return [
    ...(isHidden ? [['url']] : []),
    ...fixedPaths,
    ...headers.filter((name) => !isPlain(name)).map((name) => ['headers', name]),
  ]
}

/** Of a URL with a query all but the values of its parameters may be seen. */
export function shownPart(field: string, secret: string): string | null {
  return field === 'url' ? withoutQueryValues(secret) : null
}

/** The headers, in any case, whose values may be shown. */
export function plainHeaderTest(plainHeaders: unknown): (name: string) => boolean {
  const names = Array.isArray(plainHeaders) ? plainHeaders.map((name) => String(name).toLowerCase()) : []
  return (name) => names.includes(name.toLowerCase())
}

/** A new endpoint signs, unless configured otherwise; a secret that isn't given is generated. */
export function completeConfig(
  config: Readonly<Record<string, unknown>>,
  isStored: (field: string) => boolean,
): CompletedConfig {
  const signing = config['signing'] ?? { scheme: 'standard-webhooks' }
  const isWanted =
    isRecord(signing) && signing['scheme'] === 'standard-webhooks' && signing['secret'] === undefined
  if (!isWanted) return { config, signingSecret: null }
  if (isStored('signing.secret')) {
    return { config: { ...config, signing: { ...signing, secret: { isSet: true } } }, signingSecret: null }
  }
  const signingSecret = newSigningSecret()
  return { config: { ...config, signing: { ...signing, secret: signingSecret } }, signingSecret }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
