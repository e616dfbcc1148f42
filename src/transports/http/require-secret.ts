import type { SecretValue } from './config-fields.ts'

/** Returns the secret. A mark in its place means that the stored secret is missing. */
export function requireSecret(value: SecretValue, field: string): string {
  if (typeof value === 'string') return value
  throw new Error(`its secret ${field} is missing; set it again`)
}
