/** A field of a form, as `scripts/endpoint-fields.mjs` reads it from the API's description. */
export interface Field {
  /** Where it is in the settings: `retry.maxRetries`. */
  readonly path: string
  readonly description: string
  /** `part`: a group of fields that may be absent as a whole. */
  readonly kind: 'text' | 'integer' | 'number' | 'choice' | 'flag' | 'list' | 'map' | 'headers' | 'part'
  readonly isRequired?: boolean
  readonly isNullable?: boolean
  /** Write-only: what is stored is never shown. */
  readonly isSecret?: boolean
  /** It is there only while another field has this value. */
  readonly when?: { readonly path: string; readonly is: string | boolean }
  readonly choices?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly item?: Omit<Field, 'path' | 'description'>
  /** Instead of what `field-words.ts` has for its path. */
  readonly label?: string
  readonly unit?: string
}

/** A header of a request; a value of null is one that is stored and stays. */
export interface HeaderRow {
  readonly name: string
  readonly value: string | null
  readonly isPlain: boolean
}

/** What a control holds. A secret that stays as it is holds undefined. */
export type Raw = string | boolean | readonly HeaderRow[] | undefined

export type Settings = Readonly<Record<string, unknown>>

export function valueAt(settings: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), settings)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isStoredSecret(value: unknown): boolean {
  return isObject(value) && value['isSet'] === true
}
