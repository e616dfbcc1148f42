import { isDeepStrictEqual } from 'node:util'
import { isSecretMark } from '../../secrets/endpoint-secrets.ts'
import type { Fields } from './kind.ts'

export interface FieldChange {
  /** `limits.concurrency` */
  readonly path: string
  readonly from: unknown
  readonly to: unknown
}

/** JSON's sense of the same: an order of fields means nothing. */
export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other)
}

/**
 * Which of the wanted fields differ from what exists. What the file leaves out is left alone. A secret that is set can't be compared:
 * it counts as the same, unless `setsSecrets`.
 */
export function changedFields(
  wanted: Fields,
  existing: Fields,
  merged: readonly string[],
  setsSecrets: boolean,
): FieldChange[] {
  const changes: FieldChange[] = []
  for (const [field, to] of Object.entries(wanted)) {
    const from = existing[field]
    if (merged.includes(field) && isObject(to) && isObject(from)) {
      for (const [inner, each] of Object.entries(to)) {
        if (!holds(each, from[inner], setsSecrets, wholes.has(inner))) {
          changes.push({ path: `${field}.${inner}`, from: from[inner], to: each })
        }
      }
    } else if (!holds(to, from, setsSecrets, wholes.has(field))) changes.push({ path: field, from, to })
  }
  return changes
}

/** What is written there is all there is: a name that isn't written is a name to remove. */
const wholes: ReadonlySet<string> = new Set(['headers', 'classify', 'schema', 'transform'])

/** An object that exists may have defaults that nobody wrote, unless it is a whole. */
function holds(wanted: unknown, existing: unknown, setsSecrets: boolean, isWhole: boolean): boolean {
  if (isSecretMark(existing)) return typeof wanted !== 'string' || !setsSecrets
  if (!isObject(wanted) || !isObject(existing)) return isSame(wanted, existing ?? null)
  if (isWhole && Object.keys(existing).some((name) => !Object.hasOwn(wanted, name))) return false
  return Object.entries(wanted).every(([name, each]) => holds(each, existing[name], setsSecrets, isWhole))
}

/** The changed fields as the API takes them: whole, inside their section. */
export function changesToSend(changes: readonly FieldChange[], merged: readonly string[]): Fields {
  const send: Record<string, unknown> = {}
  for (const { path, to } of changes) {
    const [section = path, inner] = path.split(/\.(.*)/s)
    if (inner === undefined || !merged.includes(section)) send[path] = to
    else send[section] = { ...(send[section] as object | undefined), [inner]: to }
  }
  return send
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
