import { randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const minBytes = 24
const maxBytes = 64
const newBytes = 32
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export const signingSecretAdvice = `must be "${prefix}" and ${minBytes} to ${maxBytes} random bytes as base64, or be left out: then Holdfast makes one`

/** Generates a Standard Webhooks secret. */
export function newSigningSecret(): string {
  return prefix + randomBytes(newBytes).toString('base64')
}

/** The key in a secret; null if the text isn't a secret. */
export function parseSigningSecret(secret: string): Buffer | null {
  if (!secret.startsWith(prefix)) return null
  const encoded = secret.slice(prefix.length)
  if (!base64.test(encoded)) return null
  const key = Buffer.from(encoded, 'base64')
  return key.length >= minBytes && key.length <= maxBytes ? key : null
}
