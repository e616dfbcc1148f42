import { HmacSha256 } from './hmac-sha256.ts'
import type { SigningConfig } from './http-config.ts'
import type { OutgoingRequest } from './outgoing-request.ts'
import { requireSecret } from './require-secret.ts'
import { parseSigningSecret, signingSecretAdvice } from './signing-secret.ts'

interface PreviousKey {
  readonly hmac: HmacSha256
  readonly expiresAtMs: number
}

/**
 * Signs requests according to Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, where the body is what is sent, byte for byte.
 * During a rotation, a signature with each secret is sent, the new one first.
 */
export class RequestSigner {
  readonly #hmac: HmacSha256
  readonly #previous: readonly PreviousKey[]

  constructor(signing: SigningConfig & { readonly scheme: 'standard-webhooks' }) {
    this.#hmac = toHmac(requireSecret(signing.secret, 'signing.secret'))
    this.#previous = (signing.previousSecrets ?? []).map(({ value, expiresAtMs }) => ({
      hmac: toHmac(value),
      expiresAtMs,
    }))
  }

  sign(request: OutgoingRequest, nowMs: number): void {
    const { headers, method } = request
    // A GET is sent without its body.
    const body = method === 'GET' ? '' : request.body
    const signed = `${headers.get('webhook-id') ?? ''}.${headers.get('webhook-timestamp') ?? ''}.${body}`
    let signatures = `v1,${this.#hmac.sign(signed)}`
    for (const { hmac, expiresAtMs } of this.#previous) {
      if (expiresAtMs > nowMs) signatures += ` v1,${hmac.sign(signed)}`
    }
    // The name is reserved, so the header can't be set already.
    headers.flat.push('webhook-signature', signatures)
  }
}

function toHmac(secret: string): HmacSha256 {
  const key = parseSigningSecret(secret)
  if (key === null) throw new Error(`signing.secret ${signingSecretAdvice}`)
  return new HmacSha256(key)
}
