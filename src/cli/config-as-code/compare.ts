import { isDeepStrictEqual } from 'node:util'
import { digestPrefix, isSecretMark } from '../../secrets/endpoint-secrets.ts'
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

/** What the server says of a value that it doesn't show, by its place (`config.headers.x-team`); undefined: it wasn't asked. */
export type HiddenComparison = (path: string) => 'same' | 'different' | 'not_set' | 'unknown' | undefined

/**
 * Which of the wanted fields differ from what exists. What the file leaves out is left alone. Of a secret the server says whether it is the same;
 * where it can't, it counts as the same, unless `setsSecrets`.
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

/** What is written there is all there is: a name that isn't written is a name to remove. */
const wholes: ReadonlySet<string> = new Set(['headers', 'plainHeaders', 'classify', 'schema', 'transform'])

/** An existing object may have defaults that are not in the file, unless it is replaced as a whole. */
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
