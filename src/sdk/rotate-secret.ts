import { HoldfastError } from '../core/errors.ts'
import {
  newSigningSecret,
  parseSigningSecret,
  signingSecretAdvice,
} from '../transports/http/signing-secret.ts'

export interface RotateSecretOptions {
  /** How long the replaced secret is used beside the new one; 24 hours by default, at most 30 days. 0: it leaked. */
  readonly overlapMs?: number
  /** Your own, like `whsec_…`; left out, one is made. */
  readonly secret?: string
}

export interface RotatedSecret {
  readonly endpoint: string
  /** The new secret. It can't be read again. */
  readonly secret: string
  /** Until then requests carry a signature with each of the two. */
  readonly previousExpiresAt: Date | null
}

const defaultOverlapMs = 86_400_000
const maxOverlapMs = 30 * 86_400_000

/** The options with their defaults, or an error that says what is wrong and nothing of the secret. */
export function checkedRotation(options: RotateSecretOptions): Required<RotateSecretOptions> {
  const { overlapMs = defaultOverlapMs, secret = newSigningSecret() } = options
  if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > maxOverlapMs) {
    throw new HoldfastError(
      'invalid_options',
      `overlapMs must be a whole number from 0 to ${maxOverlapMs} (30 days).`,
      { overlapMs },
    )
  }
  if (typeof secret !== 'string' || parseSigningSecret(secret) === null) {
    throw new HoldfastError('invalid_options', `The secret ${signingSecretAdvice}.`)
  }
  return { overlapMs, secret }
}
