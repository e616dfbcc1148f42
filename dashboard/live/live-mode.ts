import { useSyncExternalStore } from 'react'

/** `live`: the stream tells what changes. `polling`: it broke, and pages ask. `paused`: somebody wants to read in peace. */
export type LiveMode = 'live' | 'polling' | 'paused'

let isStreaming = true
let isPaused = false
const listeners = new Set<() => void>()

function modeNow(): LiveMode {
  if (isPaused) return 'paused'
  return isStreaming ? 'live' : 'polling'
}

function tell(): void {
  for (const listener of listeners) listener()
}

export function setStreaming(is: boolean): void {
  if (isStreaming === is) return
  isStreaming = is
  tell()
}

export function togglePaused(): void {
  isPaused = !isPaused
  tell()
}

export function currentMode(): LiveMode {
  return modeNow()
}

export function useLiveMode(): LiveMode {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, modeNow)
}
