import type { Keyring } from '../secrets/keyring.ts'
import { type SecretFields } from '../secrets/sealed-fields.ts'
import type { SourceType } from './source.ts'

/** The available types of sources. */
export interface SourceRegistry {
  readonly names: readonly string[]
  /** Decrypts the secrets in stored configs. */
  readonly keyring: Keyring | null
  /** Undefined for a type of a newer version. */
  get(type: string): SourceType | undefined
}

export function createSourceRegistry(
  types: readonly SourceType[],
  keyring: Keyring | null = null,
): SourceRegistry {
  return {
    names: types.map(({ name }) => name),
    keyring,
    get: (type) => types.find(({ name }) => name === type),
  }
}

/** The secrets of a source are bound to the source and the field. */
export function secretFieldsOf(
  type: SourceType,
  source: string,
  config: Readonly<Record<string, unknown>>,
): SecretFields {
  return {
    paths: type.secretPaths(config),
    placeOf: (field) => `holdfast:source:${source}:${field}`,
    shownPart: type.shownPart,
  }
}
