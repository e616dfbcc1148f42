import type { HoldfastClient } from '../../client/holdfast-client.ts'
import type { Problem } from '../../core/problem.ts'
import { digestPrefix, isSecretMark } from '../../secrets/endpoint-secrets.ts'
import { hasHiddenValue } from '../../transports/http/hidden-url.ts'
import type { HiddenComparison } from './compare.ts'
import type { Fields } from './kind.ts'

/** Asks the server which hidden values equal those of the file. */
export async function compareHidden(
  client: HoldfastClient,
  name: string,
  wanted: Fields,
  existing: Fields,
): Promise<HiddenComparison> {
  const values: Record<string, string> = {}
  collect(wanted['config'], existing['config'], '', values)
  if (Object.keys(values).length === 0) return () => undefined
  const { fields } = await client.endpoints.compareSecrets({ params: { name }, body: { values } })
  return (path) => (path.startsWith('config.') ? fields[path.slice('config.'.length)] : undefined)
}

function collect(wanted: unknown, existing: unknown, path: string, values: Record<string, string>): void {
  const isHidden = isSecretMark(existing) || (typeof existing === 'string' && hasHiddenValue(existing))
  if (typeof wanted === 'string' && (isHidden || wanted.startsWith(digestPrefix))) values[path] = wanted
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return
  for (const [name, each] of Object.entries(wanted)) {
    const inner = (existing as Fields | null | undefined)?.[name]
    collect(each, inner, path === '' ? name : `${path}.${name}`, values)
  }
}

/** A digest stands for the stored value, which can't be computed from it: it must match. */
export function digestProblems(wanted: Fields, hidden: HiddenComparison): Problem[] {
  const problems: Problem[] = []
  walk(wanted['config'], 'config', (path, value) => {
    if (value.startsWith(digestPrefix) && hidden(path) !== 'same') {
      problems.push({
        path,
        message: 'does not match the digest: write where its value is, like env:NAME',
      })
    }
  })
  return problems
}

function walk(value: unknown, path: string, look: (path: string, text: string) => void): void {
  if (typeof value === 'string') look(path, value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  for (const [name, each] of Object.entries(value)) walk(each, `${path}.${name}`, look)
}

/** Replaces digests by the placeholder that leaves the stored value unchanged. */
export function withoutDigests(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(digestPrefix) ? { isSet: true } : value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutDigests(each)]))
}
