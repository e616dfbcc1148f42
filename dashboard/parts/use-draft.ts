import { useEffect, useState } from 'react'

const prefix = 'holdfast-draft:'

export interface KeptDraft<Value> {
  readonly value: Value
  readonly set: (value: Value) => void
  /** It was saved or given up. */
  readonly drop: () => void
  /** It is from before: a reload, another page, signing in again. */
  readonly isRestored: boolean
}

/**
 * What a form holds, kept for this tab until it is saved: another page, a reload or signing in again brings it back. Never for secrets: the next user
 * of this browser can read what is stored, so `toKept` takes them out.
 *
 * @example const { value, set, drop } = useDraft(`route:${name}`, saved)
 */
export function useDraft<Value>(
  key: string,
  saved: Value,
  toKept: (value: Value) => Value = (value) => value,
): KeptDraft<Value> {
  const [draft, setDraft] = useState<{
    readonly key: string
    readonly value: Value
    readonly isRestored: boolean
  } | null>(() => {
    const value = read(key)
    return value === undefined ? null : { key, value: value as Value, isRestored: true }
  })
  const own = draft?.key === key ? draft : null
  useEffect(() => {
    if (own === null) return
    try {
      const kept = toKept(own.value)
      if (isSame(kept, toKept(saved))) sessionStorage.removeItem(prefix + key)
      else sessionStorage.setItem(prefix + key, JSON.stringify(kept))
    } catch {
      // A private window may refuse, or it is full; the form then lasts as long as the page.
    }
  }, [own, key, saved, toKept])
  return {
    value: own?.value ?? saved,
    set: (value) => setDraft({ key, value, isRestored: false }),
    drop: () => {
      sessionStorage.removeItem(prefix + key)
      setDraft(null)
    },
    isRestored: own?.isRestored ?? false,
  }
}

function isSame(first: unknown, second: unknown): boolean {
  return JSON.stringify(first) === JSON.stringify(second)
}

function read(key: string): unknown {
  try {
    const text = sessionStorage.getItem(prefix + key)
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
