import type { SecretValue } from './config-fields.ts'

/** The secret itself. A placeholder means that the stored one is missing. */
export function requireSecret(value: SecretValue, field: string): string {
  if (typeof value === 'string') return value
  throw new Error(`its secret ${field} is missing; set it again`)
}
