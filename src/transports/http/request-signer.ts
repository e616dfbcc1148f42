import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { SigningConfig } from './http-config.ts'
import type { OutgoingRequest } from './outgoing-request.ts'
import { requireSecret } from './require-secret.ts'
import { parseSigningSecret, signingSecretAdvice } from './signing-secret.ts'

interface PreviousKey {
  readonly key: KeyObject
  readonly expiresAtMs: number
}

/**
 * Signs requests the Standard Webhooks way: HMAC-SHA256 over `id.timestamp.body`, where the body is what travels, byte for byte.
 * While a secret is being rotated, a signature with each of them is sent, the new one first.
 */
export class RequestSigner {
  readonly #key: KeyObject
  readonly #previous: readonly PreviousKey[]

  constructor(signing: SigningConfig & { readonly scheme: 'standard-webhooks' }) {
    this.#key = toKey(requireSecret(signing.secret, 'signing.secret'))
    this.#previous = (signing.previousSecrets ?? []).map(({ value, expiresAtMs }) => ({
      key: toKey(value),
      expiresAtMs,
    }))
  }

  sign(request: OutgoingRequest, nowMs: number): void {
    const { headers, method } = request
    // A GET travels without its body.
    const body = method === 'GET' ? '' : request.body
    const signed = `${headers.get('webhook-id') ?? ''}.${headers.get('webhook-timestamp') ?? ''}.${body}`
    let signatures = signature(this.#key, signed)
    for (const { key, expiresAtMs } of this.#previous) {
      if (expiresAtMs > nowMs) signatures += ` ${signature(key, signed)}`
    }
    // The name is reserved, so nobody can have set it.
    headers.flat.push('webhook-signature', signatures)
  }
}

function signature(key: KeyObject, signed: string): string {
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

function toKey(secret: string): KeyObject {
  const key = parseSigningSecret(secret)
  if (key === null) throw new Error(`signing.secret ${signingSecretAdvice}`)
  return createSecretKey(key)
}
