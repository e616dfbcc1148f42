import type { SecretPath } from '../../secrets/endpoint-secrets.ts'
import type { CompletedConfig } from '../transport.ts'
import { isSecretName } from './excerpt.ts'
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

/** Where the secrets of an http endpoint are. A header that is named like a secret is one. */
export function secretPaths(config: Readonly<Record<string, unknown>>): readonly SecretPath[] {
  const headers = isRecord(config['headers']) ? Object.keys(config['headers']) : []
  return [...fixedPaths, ...headers.filter(isSecretName).map((name) => ['headers', name])]
}

/** A new endpoint signs, unless it says otherwise; a secret that isn't given is made. */
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
