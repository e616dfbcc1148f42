import { useSyncExternalStore } from 'react'

/** How far the clock of this machine is behind the server's. Within the second that the Date header has, no difference is known. */
let offsetMs = 0

export function noteServerTime(header: string | null): void {
  const serverMs = header === null ? Number.NaN : Date.parse(header)
  if (Number.isNaN(serverMs)) return
  const differenceMs = serverMs - Date.now()
  offsetMs = differenceMs > -1500 && differenceMs < 1500 ? 0 : differenceMs
}

export function serverNowMs(): number {
  return Date.now() + offsetMs
}

const tickMs = 1000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let currentMs = serverNowMs()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    if (document.hidden) return
    currentMs = serverNowMs()
    for (const one of listeners) one()
  }, tickMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/** The server's time, once a second, the same for the whole page. */
export function useNowMs(): number {
  return useSyncExternalStore(subscribe, () => currentMs)
}

/** The same, changed only with the minute: for what shows no seconds that pass. */
export function useMinuteMs(): number {
  return useSyncExternalStore(subscribe, () => currentMs - (currentMs % 60_000))
}
