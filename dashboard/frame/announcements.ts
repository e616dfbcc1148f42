import { useSyncExternalStore } from 'react'

let text = ''
const listeners = new Set<() => void>()

/** Says to whoever listens instead of looking what came of something that they started. */
export function announce(message: string): void {
  text = message
  for (const listener of listeners) listener()
}

export function useAnnouncement(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => text,
  )
}
