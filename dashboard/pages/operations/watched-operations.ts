import { useSyncExternalStore } from 'react'

let ids: readonly string[] = []
const listeners = new Set<() => void>()

function set(next: readonly string[]): void {
  ids = next
  for (const listener of listeners) listener()
}

/** Shows its progress on every page until somebody closes it. */
export function watchOperation(id: string): void {
  set([...ids.filter((one) => one !== id), id].slice(-3))
}

export function unwatchOperation(id: string): void {
  set(ids.filter((one) => one !== id))
}

export function useWatchedOperations(): readonly string[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => ids,
  )
}
