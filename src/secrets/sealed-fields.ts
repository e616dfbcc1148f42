import {
  isSecretMark,
  partlyShown,
  type SecretPath,
  type ShownPart,
  secretMark,
  setAt,
  valueAt,
} from './endpoint-secrets.ts'
import type { Keyring } from './keyring.ts'

type Config = Readonly<Record<string, unknown>>

/** An encrypted secret, stored in the config in place of the plain text. */
interface SealedField {
  readonly isSet: true
  readonly keyId: string
  readonly sealed: string
  /** The part that may be shown. */
  readonly shown?: string
}

/** Which fields are secret, and the place to which each is bound: bytes copied to another place can't be decrypted there. */
export interface SecretFields {
  readonly paths: readonly SecretPath[]
  readonly placeOf: (field: string) => string
  readonly shownPart?: ShownPart | undefined
}

export function isSealedField(value: unknown): value is SealedField {
  return isSecretMark(value) && typeof (value as Partial<SealedField>).sealed === 'string'
}

/** Encrypts the secrets of a config, for storing. A mark stands for the secret in `stored`. */
export function sealFields<Given extends Config>(
  config: Given,
  { paths, placeOf, shownPart }: SecretFields,
  keyring: Keyring | null,
  stored: Config | null,
): Given {
  return change(config, paths, (value, path) => {
    if (isSecretMark(value)) return stored === null ? value : (valueAt(stored, path) ?? value)
    if (typeof value !== 'string' || keyring === null) return value
    const field = path.join('.')
    const { keyId, bytes } = keyring.seal(value, placeOf(field))
    const shown = shownPart?.(field, value, config) ?? null
    return { ...secretMark, keyId, sealed: bytes.toString('base64'), ...(shown !== null && { shown }) }
  })
}

export type OpenedFields<Given> =
  | { readonly ok: true; readonly config: Given }
  | { readonly ok: false; readonly reason: string }

/** Decrypts the secrets of a config, for using it. */
export function openFields<Given extends Config>(
  config: Given,
  { paths, placeOf }: SecretFields,
  keyring: Keyring | null,
): OpenedFields<Given> {
  let reason: string | null = null
  const opened = change(config, paths, (value, path) => {
    if (!isSealedField(value)) return value
    const field = path.join('.')
    const { keyId, sealed } = value
    const result = keyring?.open({ keyId, bytes: Buffer.from(sealed, 'base64') }, placeOf(field))
    if (result?.ok === true) return result.text
    reason =
      result?.reason === 'damaged'
        ? `its secret ${field} can't be decrypted: the stored value is damaged; set the secret again`
        : `its secret ${field} is encrypted with key ${keyId}, which this node's HOLDFAST_ENCRYPTION_KEY doesn't have: add that key and restart it`
    return value
  })
  return reason === null ? { ok: true, config: opened } : { ok: false, reason }
}

/** Hides the secrets of a config, for showing it: each becomes a mark with the part that may be shown. */
export function hideFields<Given extends Config>(config: Given, paths: readonly SecretPath[]): Given {
  return change(config, paths, (value) => {
    const shown = partlyShown(value)
    return shown === null ? secretMark : { ...secretMark, shown }
  })
}

function change<Given extends Config>(
  config: Given,
  paths: readonly SecretPath[],
  by: (value: unknown, path: SecretPath) => unknown,
): Given {
  if (paths.length === 0) return config
  const copy = structuredClone(config) as Record<string, unknown>
  for (const path of paths) {
    const value = valueAt(copy, path)
    if (value !== undefined) setAt(copy, path, by(value, path))
  }
  return copy as Given
}
