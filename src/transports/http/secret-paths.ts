import { isSecretMark, partlyShown, type SecretPath, secretMark } from '../../secrets/endpoint-secrets.ts'
import type { CompletedConfig } from '../transport.ts'
import { hasQuery, withoutPath, withoutQueryValues } from './hidden-url.ts'
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

/** The paths of an http endpoint's secrets, including every header that isn't listed as plain, and every URL with a query or a secret path. */
export function secretPaths(config: Readonly<Record<string, unknown>>): readonly SecretPath[] {
  const headers = isRecord(config['headers']) ? Object.keys(config['headers']) : []
  const isPlain = plainHeaderTest(config['plainHeaders'])
  const auth = isRecord(config['auth']) ? config['auth'] : {}
  return [
    ...(isHiddenUrl(config['url'], isPathSecret(config)) ? [['url']] : []),
    ...fixedPaths,
    ...(isHiddenUrl(auth['tokenUrl']) ? [['auth', 'tokenUrl']] : []),
    ...headers.filter((name) => !isPlain(name)).map((name) => ['headers', name]),
  ]
}

/** Of a URL with a query, everything except the values of its parameters may be shown; of a URL with a secret path only the server. */
export function shownPart(
  field: string,
  secret: string,
  config: Readonly<Record<string, unknown>>,
): string | null {
  if (field === 'url' && isPathSecret(config)) return withoutPath(secret)
  return field === 'url' || field === 'auth.tokenUrl' ? withoutQueryValues(secret) : null
}

function isPathSecret(config: Readonly<Record<string, unknown>>): boolean {
  return config['secretPath'] === true
}

function isHiddenUrl(url: unknown, hasSecretPath = false): boolean {
  return typeof url === 'string' ? hasSecretPath || hasQuery(url) : isSecretMark(url)
}

/** Tests whether a header's value may be shown; the name's case is ignored. */
export function plainHeaderTest(plainHeaders: unknown): (name: string) => boolean {
  const names = Array.isArray(plainHeaders) ? plainHeaders.map((name) => String(name).toLowerCase()) : []
  return (name) => names.includes(name.toLowerCase())
}

/** A new endpoint signs, unless configured otherwise; a secret that isn't given is generated. */
export function completeConfig(
  given: Readonly<Record<string, unknown>>,
  isStored: (field: string) => boolean,
): CompletedConfig {
  const config = withHiddenPath(given)
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

/** The path of a URL stored before it became secret may have been shown until now. */
function withHiddenPath(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const shown = isPathSecret(config) ? partlyShown(config['url']) : null
  return shown === null ? config : { ...config, url: { ...secretMark, shown: withoutPath(shown) } }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
