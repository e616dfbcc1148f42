import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

export interface ResolveContext {
  /** Relative paths start at the file's folder. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

export interface UnresolvedReference {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

const environmentReference = /^env:([A-Za-z_][A-Za-z0-9_]*)$/
const fileReference = /^file:(.+)$/s

export function isReference(value: unknown): value is string {
  return typeof value === 'string' && (environmentReference.test(value) || fileReference.test(value))
}

/** Replaces `env:NAME` and `file:path` with their values; missing ones are listed with their path. */
export async function resolveReferences(
  value: unknown,
  context: ResolveContext,
  unresolved: UnresolvedReference[],
  path: readonly PropertyKey[] = [],
): Promise<unknown> {
  if (isReference(value)) {
    const found = await resolveOne(value, context)
    if (typeof found === 'string') return found
    unresolved.push({ path, message: found.problem })
    return value
  }
  if (Array.isArray(value)) {
    return Promise.all(
      value.map((each, index) => resolveReferences(each, context, unresolved, [...path, index])),
    )
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(
    async ([name, each]) =>
      [name, await resolveReferences(each, context, unresolved, [...path, name])] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

async function resolveOne(
  reference: string,
  { folder, environment }: ResolveContext,
): Promise<string | { readonly problem: string }> {
  const [, name] = environmentReference.exec(reference) ?? []
  if (name !== undefined) {
    const value = environment[name] ?? ''
    return value === '' ? { problem: `needs the environment variable ${name}, which is not set` } : value
  }
  const [, path = ''] = fileReference.exec(reference) ?? []
  try {
    return (await readFile(resolve(folder, path), 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    return {
      problem: `needs the file ${path}, which can't be read: ${(error as NodeJS.ErrnoException).code}`,
    }
  }
}
