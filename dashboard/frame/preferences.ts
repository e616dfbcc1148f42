import { useSyncExternalStore } from 'react'

export interface Preferences {
  readonly zone: 'local' | 'utc'
  /** Letters that act by themselves; a switch turns them off (WCAG 2.1.4). */
  readonly hasSingleKeys: boolean
  readonly theme: 'system' | 'light' | 'dark'
}

const storageKey = 'holdfast-preferences'
const defaults: Preferences = { zone: 'local', hasSingleKeys: true, theme: 'system' }
const listeners = new Set<() => void>()
let current: Preferences = read()

function read(): Preferences {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<Preferences>) }
  } catch {
    return defaults
  }
}

export function preferences(): Preferences {
  return current
}

export function setPreference(change: Partial<Preferences>): void {
  current = { ...current, ...change }
  try {
    localStorage.setItem(storageKey, JSON.stringify(current))
  } catch {
    // A private window may refuse; the choice then lasts as long as the page.
  }
  if (change.theme !== undefined) applyTheme(change.theme)
  for (const listener of listeners) listener()
}

/** The server reads the cookie, so that the next page comes in the right colours at once. */
function applyTheme(theme: Preferences['theme']): void {
  const root = document.documentElement
  if (theme === 'system') delete root.dataset['theme']
  else root.dataset['theme'] = theme
  const value =
    theme === 'system' ? 'holdfast_theme=; Max-Age=0' : `holdfast_theme=${theme}; Max-Age=31536000`
  // oxlint-disable-next-line unicorn/no-document-cookie -- cookieStore is missing in plain HTTP
  document.cookie = `${value}; Path=/; SameSite=Strict`
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences)
}
