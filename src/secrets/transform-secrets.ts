import { isSecretMark, type SecretPath, secretMark, setAt, valueAt } from './endpoint-secrets.ts'
import type { Keyring } from './keyring.ts'

type Config = Readonly<Record<string, unknown>> & { readonly type: string }

/** A secret of a route's transform as it is stored in the transform itself, where the open text was. */
interface SealedField {
  readonly isSet: true
  readonly keyId: string
  readonly sealed: string
}

export function isSealedField(value: unknown): value is SealedField {
  return isSecretMark(value) && typeof (value as Partial<SealedField>).sealed === 'string'
}

/** What a secret is bound to: bytes that somebody copies to another route or field don't open there. */
export function placeOfRouteSecret(route: string, field: string): string {
  return `holdfast:route:${route}:${field}`
}

/** The transform as it is stored. A mark means the secret that `stored` has. */
export function sealTransform<Transform extends Config>(
  transform: Transform,
  paths: readonly SecretPath[],
  route: string,
  keyring: Keyring | null,
  stored: Config | null,
): Transform {
  return change(transform, paths, (value, path) => {
    if (isSecretMark(value)) return stored === null ? value : (valueAt(stored, path) ?? value)
    if (typeof value !== 'string' || keyring === null) return value
    const { keyId, bytes } = keyring.seal(value, placeOfRouteSecret(route, path.join('.')))
    return { ...secretMark, keyId, sealed: bytes.toString('base64') }
  })
}

export type OpenedTransform<Transform> =
  | { readonly ok: true; readonly transform: Transform }
  | { readonly ok: false; readonly reason: string }

/** The transform as it is used. */
export function openTransform<Transform extends Config>(
  transform: Transform,
  paths: readonly SecretPath[],
  route: string,
  keyring: Keyring | null,
): OpenedTransform<Transform> {
  let reason: string | null = null
  const opened = change(transform, paths, (value, path) => {
    if (!isSealedField(value)) return value
    const field = path.join('.')
    const { keyId, sealed } = value
    const result = keyring?.open(
      { keyId, bytes: Buffer.from(sealed, 'base64') },
      placeOfRouteSecret(route, field),
    )
    if (result?.ok === true) return result.text
    reason =
      result?.reason === 'damaged'
        ? `its secret ${field} can't be decrypted, so it isn't what was stored there: set it again`
        : `its secret ${field} is encrypted with key ${keyId}, which this node's HOLDFAST_ENCRYPTION_KEY doesn't have: add that key and restart it`
    return value
  })
  return reason === null ? { ok: true, transform: opened } : { ok: false, reason }
}

/** The transform as it is shown: a secret is set, and that is all that anybody is told. */
export function hideTransformSecrets<Transform extends Config>(
  transform: Transform,
  paths: readonly SecretPath[],
): Transform {
  return change(transform, paths, (value) => (value === undefined ? value : secretMark))
}

function change<Transform extends Config>(
  transform: Transform,
  paths: readonly SecretPath[],
  by: (value: unknown, path: SecretPath) => unknown,
): Transform {
  if (paths.length === 0) return transform
  const copy = structuredClone(transform) as Record<string, unknown>
  for (const path of paths) {
    const value = valueAt(copy, path)
    if (value !== undefined) setAt(copy, path, by(value, path))
  }
  return copy as Transform
}
