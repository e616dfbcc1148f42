import type { SecretPath } from './endpoint-secrets.ts'
import type { Keyring } from './keyring.ts'
import { hideFields, openFields, type SecretFields, sealFields } from './sealed-fields.ts'

type Config = Readonly<Record<string, unknown>> & { readonly type: string }

/** The place to which a secret of a route's transform is bound. */
export function placeOfRouteSecret(route: string, field: string): string {
  return `holdfast:route:${route}:${field}`
}

const fieldsOf = (paths: readonly SecretPath[], route: string): SecretFields => ({
  paths,
  placeOf: (field) => placeOfRouteSecret(route, field),
})

/** Encrypts the transform's secrets, for storing. A mark stands for the secret in `stored`. */
export function sealTransform<Transform extends Config>(
  transform: Transform,
  paths: readonly SecretPath[],
  route: string,
  keyring: Keyring | null,
  stored: Config | null,
): Transform {
  return sealFields(transform, fieldsOf(paths, route), keyring, stored)
}

export type OpenedTransform<Transform> =
  | { readonly ok: true; readonly transform: Transform }
  | { readonly ok: false; readonly reason: string }

/** Decrypts the transform's secrets, for using it. */
export function openTransform<Transform extends Config>(
  transform: Transform,
  paths: readonly SecretPath[],
  route: string,
  keyring: Keyring | null,
): OpenedTransform<Transform> {
  const opened = openFields(transform, fieldsOf(paths, route), keyring)
  return opened.ok ? { ok: true, transform: opened.config } : opened
}

/** Hides the transform's secrets, for showing it: each becomes a mark. */
export function hideTransformSecrets<Transform extends Config>(
  transform: Transform,
  paths: readonly SecretPath[],
): Transform {
  return hideFields(transform, paths)
}
