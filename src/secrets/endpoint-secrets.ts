import type { Keyring, Sealed } from './keyring.ts'

/** One stored secret of an endpoint. */
export interface StoredSecret {
  /** The secret's path in the config: `signing.secret`. */
  readonly field: string
  /** Increases with each rotation; the highest is the current one. */
  readonly version: number
  readonly keyId: string
  readonly sealed: string
  readonly setAtMs: number
  /** Set for a replaced secret that is still used beside its successor. */
  readonly expiresAtMs: number | null
}

/** A secret to be stored. */
export interface NewSecret extends Sealed {
  readonly field: string
}

/** Replaces a secret in a config that is shown: only says that it is set. */
export const secretMark = Object.freeze({ isSet: true })

/** Prefix of the text that `export` writes instead of a secret: a digest of the secret follows. */
export const digestPrefix = 'digest:'

export type SecretPath = readonly string[]

/** Returns the part of a secret that may be shown, which may depend on the rest of its config; null: nothing. */
export type ShownPart = (
  field: string,
  secret: string,
  config: Readonly<Record<string, unknown>>,
) => string | null

export interface SplitConfig {
  /** The config with marks in place of the secrets. */
  readonly config: Record<string, unknown>
  /** The secrets by field. */
  readonly secrets: ReadonlyMap<string, string>
  /** Fields that had a mark already: they keep their stored secret. */
  readonly kept: readonly string[]
}

/** The part of a secret that may be shown: `{ isSet: true, shown: 'https://crm.example/hooks?key=[hidden]' }`. */
export function partlyShown(value: unknown): string | null {
  if (!isSecretMark(value)) return null
  const { shown } = value as { readonly shown?: unknown }
  return typeof shown === 'string' ? shown : null
}

export function isSecretMark(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'isSet' in value && value.isSet === true
}

/** Removes the secrets from a config. */
export function splitSecrets(
  config: Readonly<Record<string, unknown>>,
  paths: readonly SecretPath[],
  shownPart: ShownPart = () => null,
): SplitConfig {
  const open = structuredClone(config) as Record<string, unknown>
  const secrets = new Map<string, string>()
  const kept: string[] = []
  for (const path of paths) {
    const field = path.join('.')
    const value = valueAt(open, path)
    if (typeof value === 'string') secrets.set(field, value)
    else if (isSecretMark(value)) kept.push(field)
    else continue
    const shown = typeof value === 'string' ? shownPart(field, value, config) : partlyShown(value)
    setAt(open, path, shown === null ? secretMark : { ...secretMark, shown })
  }
  return { config: open, secrets, kept }
}

export function sealSecrets(
  secrets: ReadonlyMap<string, string>,
  laneId: number,
  keyring: Keyring,
): NewSecret[] {
  return [...secrets].map(([field, text]) => ({ field, ...keyring.seal(text, placeOf(laneId, field)) }))
}

/** The context that a secret is bound to: bytes copied to another endpoint or field can't be decrypted there. */
export function placeOf(laneId: number, field: string): string {
  return `holdfast:endpoint:${laneId}:${field}`
}

export type RestoredConfig =
  | { readonly ok: true; readonly config: Record<string, unknown> }
  | { readonly ok: false; readonly reason: string }

/**
 * Replaces the marks with the secrets. Older versions that are still used are added beside the current one,
 * as a list `previousSecrets` of `{ value, expiresAtMs }`.
 */
export function restoreSecrets(
  config: Readonly<Record<string, unknown>>,
  paths: readonly SecretPath[],
  stored: readonly StoredSecret[],
  laneId: number,
  keyring: Keyring | null,
  nowMs: number,
): RestoredConfig {
  const whole = structuredClone(config) as Record<string, unknown>
  for (const path of paths) {
    if (!isSecretMark(valueAt(whole, path))) continue
    const field = path.join('.')
    const versions = stored
      .filter((secret) => secret.field === field && (secret.expiresAtMs ?? nowMs + 1) > nowMs)
      .sort((one, other) => other.version - one.version)
    const [present, ...previous] = versions
    if (present === undefined) return { ok: false, reason: `its secret ${field} is not stored; set it again` }
    const older: object[] = []
    for (const secret of versions) {
      const opened = openStored(secret, laneId, keyring)
      if (!opened.ok) return opened
      if (secret === present) setAt(whole, path, opened.text)
      else older.push({ value: opened.text, expiresAtMs: secret.expiresAtMs ?? 0 })
    }
    if (previous.length > 0) setAt(whole, [...path.slice(0, -1), 'previousSecrets'], older)
  }
  return { ok: true, config: whole }
}

function openStored(
  secret: StoredSecret,
  laneId: number,
  keyring: Keyring | null,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string } {
  const { field, keyId, sealed } = secret
  if (keyring === null) {
    return {
      ok: false,
      reason: `its secret ${field} is encrypted with key ${keyId}, and this node has no key: set HOLDFAST_ENCRYPTION_KEY and restart it`,
    }
  }
  const opened = keyring.open({ keyId, bytes: Buffer.from(sealed, 'base64') }, placeOf(laneId, field))
  if (opened.ok) return opened
  return {
    ok: false,
    reason:
      opened.reason === 'no_key'
        ? `its secret ${field} is encrypted with key ${keyId}, which this node's HOLDFAST_ENCRYPTION_KEY doesn't have: add that key and restart it`
        : `its secret ${field} can't be decrypted: the stored value is damaged; set the secret again`,
  }
}

export function valueAt(config: Readonly<Record<string, unknown>>, path: SecretPath): unknown {
  let value: unknown = config
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}

export function setAt(config: Record<string, unknown>, path: SecretPath, value: unknown): void {
  let place = config
  for (const step of path.slice(0, -1)) place = place[step] as Record<string, unknown>
  const last = path.at(-1)
  if (last !== undefined) place[last] = value
}
