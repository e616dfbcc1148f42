import { useSyncExternalStore } from 'react'
import type { ApiProblem } from '../api/api-problem.ts'

export interface Outage {
  readonly sinceMs: number
  readonly problem: ApiProblem
}

let outage: Outage | null = null
const listeners = new Set<() => void>()
const onEnd = new Set<() => void>()

function set(next: Outage | null): void {
  outage = next
  for (const listener of listeners) listener()
}

/** A call could not be answered: the server, or its database, is away. */
export function noteOutage(problem: ApiProblem): void {
  set({ sinceMs: outage?.sinceMs ?? Date.now(), problem })
}

/** A call was answered. What else is shown is asked for again at once. */
export function noteAnswer(): void {
  if (outage === null) return
  set(null)
  for (const listener of onEnd) listener()
}

export function whenOutageEnds(listener: () => void): void {
  onEnd.add(listener)
}

/** At first every second, the longer it lasts the less often. */
export function retryDelayMs(): number {
  const lastedMs = outage === null ? 0 : Date.now() - outage.sinceMs
  return Math.min(15_000, Math.max(1000, lastedMs / 4))
}

/** Null: all is well. */
export function useOutage(): Outage | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => outage,
  )
}
