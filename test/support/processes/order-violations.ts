import type { TalliedRequest } from './tally-receiver.ts'

interface KeyedBody {
  readonly key: string
  readonly n: number
}

/**
 * Looks for requests out of their key's order. Bodies carry `{ key, n }`, numbered in the order of publishing. A message may come
 * again (a crash before its settling), but once its successor has been started it is settled and never comes back, and no
 * message starts before its predecessor was accepted.
 */
export function orderViolations(requests: readonly TalliedRequest[]): string[] {
  const violations: string[] = []
  const highest = new Map<string, number>()
  const accepted = new Map<string, Set<number>>()
  for (const request of [...requests].sort((first, second) => first.atMs - second.atMs)) {
    const { key, n } = request.body as KeyedBody
    const last = highest.get(key) ?? 0
    if (n < last) violations.push(`${key}: ${n} came again after ${last} was started`)
    const done = accepted.get(key) ?? new Set<number>()
    accepted.set(key, done)
    if (n > 0 && n > last && !done.has(n - 1))
      violations.push(`${key}: ${n} came before ${n - 1} was accepted`)
    if (request.status === 200) done.add(n)
    highest.set(key, Math.max(last, n))
  }
  return violations
}
