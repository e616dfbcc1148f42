import type { SecretPath } from './endpoint-secrets.ts'
import type { Keyring } from './keyring.ts'
import { hideFields, openFields, type SecretFields, sealFields } from './sealed-fields.ts'

type Config = Readonly<Record<string, unknown>> & { readonly type: string }

/** What a secret of a route's transform is bound to. */
export function placeOfRouteSecret(route: string, field: string): string {
  return `holdfast:route:${route}:${field}`
}

const fieldsOf = (paths: readonly SecretPath[], route: string): SecretFields => ({
  paths,
  placeOf: (field) => placeOfRouteSecret(route, field),
})

/** The transform as it is stored. A mark means the secret that `stored` has. */
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

/** The transform as it is used. */
export function openTransform<Transform extends Config>(
  transform: Transform,
  paths: readonly SecretPath[],
  route: string,
  keyring: Keyring | null,
): OpenedTransform<Transform> {
  const opened = openFields(transform, fieldsOf(paths, route), keyring)
  return opened.ok ? { ok: true, transform: opened.config } : opened
}

/** The transform as it is shown: of a secret, only that it is set. */
export function hideTransformSecrets<Transform extends Config>(
  transform: Transform,
  paths: readonly SecretPath[],
): Transform {
  return hideFields(transform, paths)
}
