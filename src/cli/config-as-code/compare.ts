import { isDeepStrictEqual } from 'node:util'
import { digestPrefix, isSecretMark } from '../../secrets/endpoint-secrets.ts'
import type { Fields } from './kind.ts'

export interface FieldChange {
  /** `limits.concurrency` */
  readonly path: string
  readonly from: unknown
  readonly to: unknown
}

/** Equality of JSON values: the order of fields doesn't matter. */
export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other)
}

/** The server's comparison of a hidden value, by its path (`config.headers.x-team`); undefined: not compared. */
export type HiddenComparison = (path: string) => 'same' | 'different' | 'not_set' | 'unknown' | undefined

/**
 * Returns the fields of the file that differ from the existing object. Fields that the file omits are left unchanged. The server compares secrets; if
 * it can't, a secret counts as unchanged, unless `setsSecrets`.
 */
export function changedFields(
  wanted: Fields,
  existing: Fields,
  merged: readonly string[],
  {
    setsSecrets,
    hidden = () => undefined,
  }: { readonly setsSecrets: boolean; readonly hidden?: HiddenComparison },
): FieldChange[] {
  const changes: FieldChange[] = []
  const rules = { setsSecrets, hidden }
  for (const [field, to] of Object.entries(wanted)) {
    const from = existing[field]
    if (merged.includes(field) && isObject(to) && isObject(from)) {
      for (const [inner, each] of Object.entries(to)) {
        const path = `${field}.${inner}`
        if (!holds(each, from[inner], path, rules, wholes.has(inner))) {
          changes.push({ path, from: from[inner], to: each })
        }
      }
    } else if (!holds(to, from, field, rules, wholes.has(field))) changes.push({ path: field, from, to })
  }
  return changes
}

interface Rules {
  readonly setsSecrets: boolean
  readonly hidden: HiddenComparison
}

/** Fields that are replaced completely: a name missing in the file is removed. */
const wholes: ReadonlySet<string> = new Set(['headers', 'plainHeaders', 'classify', 'schema', 'transform'])

/** Unless the object is replaced completely, the existing one may have defaults that are not in the file. */
function holds(wanted: unknown, existing: unknown, path: string, rules: Rules, isWhole: boolean): boolean {
  const asked = typeof wanted === 'string' ? rules.hidden(path) : undefined
  if (asked === 'same') return !rules.setsSecrets || String(wanted).startsWith(digestPrefix)
  if (asked === 'different' || asked === 'not_set') return false
  if (isSecretMark(existing)) return typeof wanted !== 'string' || !rules.setsSecrets
  if (asked === 'unknown') return !rules.setsSecrets
  if (!isObject(wanted) || !isObject(existing)) return isSame(wanted, existing ?? null)
  if (isWhole && Object.keys(existing).some((name) => !Object.hasOwn(wanted, name))) return false
  return Object.entries(wanted).every(([name, each]) =>
    holds(each, existing[name], `${path}.${name}`, rules, isWhole),
  )
}

/** The changed fields in the form that the API takes: complete, within their section. */
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
