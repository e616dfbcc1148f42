import type { Operation } from '../contract/operation.ts'
import { operations } from '../contract/operations.ts'

const patterns = Object.values(operations)
  .flatMap((group) => Object.values(group) as unknown as Operation[])
  .map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`),
  }))

/** The methods of a path; empty if the path doesn't exist. */
export function allowedMethods(path: string): readonly string[] {
  const methods = patterns
    .filter(({ pattern }) => pattern.test(path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  return [...new Set(methods)].sort()
}
